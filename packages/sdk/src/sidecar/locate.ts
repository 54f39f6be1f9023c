// Locates the sidecar and the guest image. The packages `@coldframe/sidecar` and
// `@coldframe/runner` export the paths. If a package has not been built, the message of its error
// becomes the reason of `ERR_SIDECAR_SPAWN`.

import { imageDir } from '@coldframe/runner';
import { addonPath, sidecarPath } from '@coldframe/sidecar';
import { sidecarSpawn } from '../errors/make.js';

/** Returns the path of the sidecar's program. */
export const locateSidecar = (): string => located('@coldframe/sidecar', sidecarPath);

/** Returns the path of the addon of the embedded sidecar. */
export const locateAddon = (): string => located('@coldframe/sidecar', addonPath);

/** Returns the folder of the guest image. */
export const locateImage = (): string => located('@coldframe/runner', imageDir);

function located(name: string, path: () => string): string {
  try {
    return path();
  } catch (error) {
    throw sidecarSpawn(name, (error as Error).message, error);
  }
}
