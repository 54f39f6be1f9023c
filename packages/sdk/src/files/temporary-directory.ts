// Makes directories with unique names.

import { isColdframeError } from '../errors/error.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';

/** 48 random bits are eight characters of base64url, which no other directory has by chance. */
const RANDOM_BYTES = 6;
/** The number of attempts. Names collide only if a program makes directories on purpose. */
const ATTEMPTS = 8;

/**
 * Makes a directory whose name is `prefix` and random characters. Makes missing parents. Returns
 * the path.
 */
export async function makeTemporaryDirectory({ connection, runtime }: RuntimeAccess, prefix: string): Promise<string> {
  const { randomBytes } = await import('node:crypto');
  const parent = prefix.slice(0, prefix.lastIndexOf('/'));
  if (parent !== '') await connection.request('file.mkdir', { runtime, path: parent, recursive: true });
  for (let attempt = 1; ; attempt++) {
    const path = prefix + randomBytes(RANDOM_BYTES).toString('base64url');
    try {
      await connection.request('file.mkdir', { runtime, path });
      return path;
    } catch (error) {
      if (attempt === ATTEMPTS || !isColdframeError(error, 'EEXIST')) throw error;
    }
  }
}
