// The access to the agent of a sandbox. The access token opens all calls. A signed URL opens one
// file.

import { createHash, timingSafeEqual } from 'node:crypto';

/** The parts of a signed URL of a file. */
export interface Signed {
  path: string;
  operation: 'read' | 'write';
  /** The user that the URL names, or an empty text. */
  username: string;
  signature: string | undefined;
  /** Seconds since 1970, as the URL has them. */
  expiration: string | undefined;
}

/** Returns whether two tokens are equal. The time does not depend on their bytes. */
export function isSameToken(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** Returns the signature of a URL for the holder of `token`. */
export function signatureOf({ path, operation, username, expiration }: Omit<Signed, 'signature'>, token: string): string {
  const parts = [path, operation, username, token];
  if (expiration !== undefined) parts.push(expiration);
  return `v1_${createHash('sha256').update(parts.join(':')).digest('base64').replace(/=+$/, '')}`;
}

/** Returns the reason why a signed URL opens no file, or `undefined` if the URL opens its file. */
export function refusalOf(signed: Signed, token: string, now: number): string | undefined {
  if (signed.signature === undefined) return 'missing signature query parameter';
  if (!isSameToken(signed.signature, signatureOf(signed, token))) return 'invalid signature';
  if (signed.expiration !== undefined && Number(signed.expiration) * 1_000 < now) return 'signature is already expired';
  return undefined;
}
