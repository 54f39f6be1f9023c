// Computes a digest over named byte strings: the key of everything that the build caches. The
// digest covers names and lengths, so moving bytes from one file to the next changes the key.
import { createHash } from 'node:crypto';

/**
 * @param {Iterable<[name: string, bytes: string | Uint8Array]>} parts
 * @returns {string} 40 hexadecimal digits
 */
export function digest(parts) {
  const hash = createHash('sha256');
  for (const [name, value] of parts) {
    const bytes = typeof value === 'string' ? Buffer.from(value) : value;
    hash.update(`${name}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex').slice(0, 40);
}
