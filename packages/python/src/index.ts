// Returns the folder of Python: the image, the module that the image names, and `root` with the
// standard library.
//
// The module is code of one kind of processor. A published release therefore has the files in a
// package for each kind of processor, and a checkout has the files in this package.

import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
// An `import` of `node:fs` reads every export, and makes Node load further modules.
const fs = require('node:fs') as typeof import('node:fs');

/** The platforms that have a package, as `os-cpu`. The C library makes no difference to a guest. */
export const PLATFORMS: readonly string[] = ['linux-x64', 'linux-arm64'];

/** The part of the names of the platform packages before the platform. */
const PREFIX = '@coldframe/python-';

const hasImage = (folder: string): boolean => fs.existsSync(join(folder, 'python.image'));

/**
 * Returns the path of the folder with `python.image`, its module and `root`: `COLDFRAME_PYTHON`, or
 * the folder of the checkout or of the platform package. Returns `undefined` if no folder has an
 * image.
 */
export function pythonDir(): string | undefined {
  const given = process.env['COLDFRAME_PYTHON'];
  if (given) {
    if (hasImage(given)) return resolve(given);
    throw new Error(`COLDFRAME_PYTHON: expected a folder with python.image, received ${JSON.stringify(given)}`);
  }
  const built = fileURLToPath(new URL('.', import.meta.url));
  return hasImage(built) ? built : platformDir();
}

function platformDir(): string | undefined {
  const platform = `${process.platform}-${process.arch}`;
  if (!PLATFORMS.includes(platform)) return undefined;
  try {
    const folder = dirname(require.resolve(`${PREFIX}${platform}/package.json`));
    return hasImage(folder) ? folder : undefined;
  } catch {
    // The package is an optional dependency, which an installer may leave out.
    return undefined;
  }
}
