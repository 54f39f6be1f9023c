// A file with a key of the server. Only the server's user can read the file.

import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';

/** Returns the content of the file `path`. If the file is missing, writes the bytes of `make`. */
export async function openKeyFile(path: string, make: () => Uint8Array): Promise<Buffer> {
  try {
    const file = await open(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
    try {
      await file.write(make());
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFile(path);
}
