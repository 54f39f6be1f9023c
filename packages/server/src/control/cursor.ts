// The tokens that continue a list: the place of the last entry.

import type { Cursor } from '../registry/registry.js';
import { ControlFailure } from './failure.js';

/** Returns the token of a place. */
export const tokenOf = ({ at, id }: Cursor): string => Buffer.from(JSON.stringify([at, id])).toString('base64url');

/** Returns the place of a token. */
export function cursorOf(token: string | undefined): Cursor | undefined {
  if (token === undefined || token === '') return undefined;
  try {
    const [at, id] = JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as unknown[];
    if (typeof at === 'number' && Number.isFinite(at) && typeof id === 'string') return { at, id };
  } catch {
    // Not a token of this server.
  }
  throw new ControlFailure(400, 'nextToken is not a token of this server');
}

/**
 * Returns the first `limit` entries of a list, and the token of the next page if there are more.
 */
export function pageOf<T>(
  found: readonly T[],
  limit: number,
  placeOf: (entry: T) => Cursor,
): { page: T[]; next: string | undefined } {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return { page, next: found.length > limit && last !== undefined ? tokenOf(placeOf(last)) : undefined };
}
