// Returns the folder of the images: one image for `node` programs and one with the shell. The build
// makes the images of `engine/`, `bootstrap/` and `shell/`.
//
// The images name one precompiled module, which is code of one kind of processor. A published
// release therefore has the images in a package for each kind of processor, and a checkout has them
// in this package.

import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
// An `import` of `node:fs` reads every export, and makes Node load the modules of streams, promises
// and `readline` for some of the exports.
const fs = require('node:fs') as typeof import('node:fs');

const FILES = ['guest.image', 'shell.image'];

/** The platforms that have a package, as `os-cpu`. The C library makes no difference to a guest. */
export const PLATFORMS: readonly string[] = ['linux-x64', 'linux-arm64'];

/** The part of the names of the platform packages before the platform. */
const PREFIX = '@coldframe/runner-';

/** The platform package for this machine is missing, or no platform package fits this machine. */
export class PlatformPackageError extends Error {
  readonly code = 'ERR_PLATFORM_PACKAGE';
  /** The name of the missing package. Empty if no platform package fits this machine. */
  readonly package: string;
  /** The installed platform packages, which are for other machines. */
  readonly installed: readonly string[];

  constructor(name: string, installed: readonly string[]) {
    super(name === '' ? 'there is no package for this machine' : `the package ${name} is missing`);
    this.package = name;
    this.installed = installed;
  }
}

const hasImages = (folder: string): boolean => FILES.every((name) => fs.existsSync(join(folder, name)));

/**
 * Returns the path of the folder with `guest.image`, `shell.image` and their module:
 * `COLDFRAME_IMAGES`, or the folder of the checkout or of the platform package.
 *
 * @throws `PlatformPackageError` if the platform package is not installed.
 */
export function imageDir(): string {
  const given = process.env['COLDFRAME_IMAGES'];
  if (given) {
    if (hasImages(given)) return resolve(given);
    throw new Error(`COLDFRAME_IMAGES: expected a folder with ${FILES.join(' and ')}, received ${JSON.stringify(given)}`);
  }
  const built = fileURLToPath(new URL('.', import.meta.url));
  return hasImages(built) ? built : platformDir();
}

function platformDir(): string {
  const require = createRequire(import.meta.url);
  const folderOf = (platform: string): string | undefined => {
    try {
      return dirname(require.resolve(`${PREFIX}${platform}/package.json`));
    } catch {
      return undefined;
    }
  };
  const wanted = `${process.platform}-${process.arch}`;
  const folder = PLATFORMS.includes(wanted) ? folderOf(wanted) : undefined;
  if (folder !== undefined && hasImages(folder)) return folder;
  const installed = PLATFORMS.filter((platform) => platform !== wanted && folderOf(platform) !== undefined);
  throw new PlatformPackageError(
    PLATFORMS.includes(wanted) ? PREFIX + wanted : '',
    installed.map((platform) => PREFIX + platform),
  );
}
