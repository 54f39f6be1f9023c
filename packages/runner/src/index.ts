// Says where the guest image is. What is in it comes from `engine/` and `bootstrap/`, by way of `build/`.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FILES = ['guest.image'];

/** Path of the folder with `guest.image` and its module. Throws when this package does not hold them. */
export function imageDir(): string {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const missing = FILES.map((name) => join(folder, name)).find((path) => !existsSync(path));
  if (missing === undefined) return folder;
  throw new Error(`${missing} is missing: install a release for this machine, or build it with \`node scripts/build.mjs\``);
}
