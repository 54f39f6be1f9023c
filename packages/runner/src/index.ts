// Says where the images are: the one for `node` programs and the one with the shell. What is in them comes from `engine/`, `bootstrap/` and `shell/`, by
// way of `build/`.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FILES = ['guest.image', 'shell.image'];

/** Path of the folder with `guest.image`, `shell.image` and their modules. Throws when this package does not hold them. */
export function imageDir(): string {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const missing = FILES.map((name) => join(folder, name)).find((path) => !existsSync(path));
  if (missing === undefined) return folder;
  throw new Error(`${missing} is missing: install a release for this machine, or build it with \`node scripts/build.mjs\``);
}
