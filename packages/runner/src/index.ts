// Returns the folder of the images: one image for `node` programs and one with the shell. The build
// makes the images of `engine/`, `bootstrap/` and `shell/`.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FILES = ['guest.image', 'shell.image'];

/**
 * Returns the path of the folder with `guest.image`, `shell.image` and their modules. Throws if
 * this package does not contain the images.
 */
export function imageDir(): string {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const missing = FILES.map((name) => join(folder, name)).find((path) => !existsSync(path));
  if (missing === undefined) return folder;
  throw new Error(`${missing} is missing: install a release for this machine, or build it with \`node scripts/build.mjs\``);
}
