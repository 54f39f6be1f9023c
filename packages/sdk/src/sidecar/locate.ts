// Where the sidecar and the guest image are. Both packages say it themselves; what they throw when they have not been built is their
// message in our error.

import { imageDir } from '@coldframe/runner';
import { addonPath, sidecarPath } from '@coldframe/sidecar';
import { sidecarSpawn } from '../errors/make.js';

/** The sidecar's program. */
export const locateSidecar = (): string => located('@coldframe/sidecar', sidecarPath);

/** The addon of the embedded sidecar. */
export const locateAddon = (): string => located('@coldframe/sidecar', addonPath);

/** The folder with the guest image. */
export const locateImage = (): string => located('@coldframe/runner', imageDir);

function located(name: string, path: () => string): string {
  try {
    return path();
  } catch (error) {
    throw sidecarSpawn(name, (error as Error).message, error);
  }
}
