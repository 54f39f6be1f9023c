// Users of a runtime: the option `user` of programs, and the option `owner` of files.

import { isPlain, rule } from './rule.js';

/** A user and a group by number. */
export interface OwnerIds {
  /** The number of the user. */
  uid: number;
  /** The number of the group. */
  gid: number;
}

/** A user of a runtime by name, or a user and a group by number. */
export type Owner = 'root' | 'user' | OwnerIds;

/** The highest number of a user or a group. Linux uses the next number for "no user". */
const MAX_ID = 2 ** 32 - 2;

const NAMED: Readonly<Record<string, OwnerIds>> = { root: { uid: 0, gid: 0 }, user: { uid: 1000, gid: 1000 } };

const isId = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_ID;

/** Accepts a user. */
export const OWNER = rule((value) => {
  if (typeof value === 'string') return Object.hasOwn(NAMED, value);
  return isPlain(value) && Object.keys(value).length === 2 && isId(value.uid) && isId(value.gid);
}, `'root', 'user' or { uid, gid } with whole numbers from 0 to ${MAX_ID}`);

/** Returns the numbers of a user. */
export function idsOf(owner: Owner | undefined): OwnerIds | undefined {
  if (owner === undefined) return undefined;
  return typeof owner === 'string' ? NAMED[owner] : { uid: owner.uid, gid: owner.gid };
}
