// Bytes by their SHA-256, in a folder. Blobs are written once and never changed. The digest is
// computed while the bytes arrive. A fleet has another store with this interface.

import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A store of bytes by their SHA-256. */
export interface Blobs {
  has(digest: string): Promise<boolean>;
  /** Returns the bytes. The stream fails with `ENOENT` for an unknown digest. */
  get(digest: string): Readable;
  /**
   * Stores the bytes of a stream, and returns their digest.
   *
   * @throws {TooLarge} if the stream has more than `maxBytes`
   */
  put(source: Readable, maxBytes: number): Promise<{ digest: string; size: number }>;
  delete(digest: string): Promise<void>;
  /** Returns the digests of all blobs. */
  list(): Promise<string[]>;
}

/** A stream that has more bytes than its store accepts. */
export class TooLarge extends Error {
  constructor(maxBytes: number) {
    super(`The upload has more than ${maxBytes} bytes`);
    this.name = 'TooLarge';
  }
}

const DIGEST = /^[0-9a-f]{64}$/;

/** Opens the store in `folder`, which is made if missing. Removes incomplete blobs. */
export async function openBlobs(folder: string): Promise<Blobs> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) if (!DIGEST.test(name)) await rm(join(folder, name), { force: true });
  const pathOf = (digest: string): string => {
    if (!DIGEST.test(digest)) throw new Error(`not a SHA-256 in hex: ${digest}`);
    return join(folder, digest);
  };
  return {
    has: (digest) =>
      stat(pathOf(digest)).then(
        () => true,
        () => false,
      ),
    get: (digest) => createReadStream(pathOf(digest)),
    list: () => readdir(folder),
    delete: (digest) => rm(pathOf(digest), { force: true }),
    put: async (source, maxBytes) => {
      const path = join(folder, `${randomUUID()}.part`);
      const hash = createHash('sha256');
      let size = 0;
      const counted = new Transform({
        transform(chunk: Buffer, _, done) {
          size += chunk.length;
          hash.update(chunk);
          if (size > maxBytes) done(new TooLarge(maxBytes));
          else done(null, chunk);
        },
      });
      try {
        await pipeline(source, counted, createWriteStream(path, { mode: 0o600 }));
        const file = await open(path, 'r');
        await file.sync().finally(() => file.close());
        const digest = hash.digest('hex');
        await rename(path, pathOf(digest));
        return { digest, size };
      } catch (error) {
        await rm(path, { force: true });
        throw error;
      }
    },
  };
}
