// Returns the folder of Python: the image, the module that the image names, and `root` with the
// standard library.

import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

// An `import` of `node:fs` reads every export, and makes Node load further modules.
const fs = createRequire(import.meta.url)('node:fs') as typeof import('node:fs');

/**
 * Returns the path of the folder with `python.image`, its module and `root`: `COLDFRAME_PYTHON`, or
 * the folder of this package. Returns `undefined` if the image has not been built.
 */
export function pythonDir(): string | undefined {
  const hasImage = (folder: string): boolean => fs.existsSync(join(folder, 'python.image'));
  const given = process.env['COLDFRAME_PYTHON'];
  if (given) {
    if (hasImage(given)) return resolve(given);
    throw new Error(`COLDFRAME_PYTHON: expected a folder with python.image, received ${JSON.stringify(given)}`);
  }
  const built = fileURLToPath(new URL('.', import.meta.url));
  return hasImage(built) ? built : undefined;
}
