// Locates the native halves: the sidecar's program, and the addon with an equal core. The SDK
// starts or loads them (`packages/sdk/src/transports`). A published release has them in a package
// for each platform, and a checkout has them in this package.

import { fileURLToPath } from 'node:url';
import { fs, platformFile } from './platform.js';
import { runnable } from './runnable.js';

export { type Machine, PLATFORMS, PlatformPackageError, thisMachine } from './platform.js';

/** The part of the names of the platform packages before the platform. */
const PREFIX = '@coldframe/sidecar-';

/**
 * Returns the path of the sidecar's program: `COLDFRAME_SIDECAR`, or the program of the checkout or
 * of the platform package. The program may be run.
 *
 * @throws `PlatformPackageError` if the platform package is not installed.
 */
export const sidecarPath = (): string =>
  given('coldframe-sidecar', 'COLDFRAME_SIDECAR') ?? runnable(located('coldframe-sidecar'));

/**
 * Returns the path of the Node-API addon: `COLDFRAME_ADDON`, or the addon of the checkout or of the
 * platform package.
 *
 * @throws `PlatformPackageError` if the platform package is not installed.
 */
export const addonPath = (): string => given('coldframe.node', 'COLDFRAME_ADDON') ?? located('coldframe.node');

function located(name: string): string {
  const built = fileURLToPath(new URL(name, import.meta.url));
  return fs.existsSync(built) ? built : platformFile(PREFIX, name);
}

/** Returns the path in an environment variable, or `undefined` if the variable is not set. */
function given(name: string, variable: string): string | undefined {
  const path = process.env[variable];
  if (!path) return undefined;
  if (fs.existsSync(path)) return path;
  throw new Error(`${variable}: expected the path of ${name}, received ${JSON.stringify(path)}, where there is no file`);
}
