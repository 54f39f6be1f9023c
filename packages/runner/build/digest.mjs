// One digest over named byte strings: the key of everything the build caches. Names and lengths are part of it, so that moving
// bytes from one file to the next cannot give the same key.
import { createHash } from 'node:crypto';

/** @param {Iterable<[name: string, bytes: string | Uint8Array]>} parts @returns {string} 40 hexadecimal digits */
export function digest(parts) {
  const hash = createHash('sha256');
  for (const [name, value] of parts) {
    const bytes = typeof value === 'string' ? Buffer.from(value) : value;
    hash.update(`${name}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex').slice(0, 40);
}
