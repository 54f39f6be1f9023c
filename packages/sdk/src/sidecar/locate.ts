// Locates the sidecar and the guest image. The packages `@coldframe/sidecar` and
// `@coldframe/runner` return the paths. Their native files are in platform packages, which npm
// installs as optional dependencies. A missing platform package becomes `ERR_PLATFORM_PACKAGE`.

import { imageDir } from '@coldframe/runner';
import { addonPath, PLATFORMS, sidecarPath, thisMachine } from '@coldframe/sidecar';
import { platformPackage, sidecarSpawn } from '../errors/make.js';

/** Returns the path of the sidecar's program. */
export const locateSidecar = (): string => located('@coldframe/sidecar', sidecarPath);

/** Returns the path of the addon of the embedded sidecar. */
export const locateAddon = (): string => located('@coldframe/sidecar', addonPath);

/** Returns the folder of the guest image. */
export const locateImage = (): string => located('@coldframe/runner', imageDir);

/** The fields of the errors that the two packages throw. */
interface MissingPackage {
  code: 'ERR_PLATFORM_PACKAGE';
  package: string;
  installed: readonly string[];
}

const isMissingPackage = (error: unknown): error is MissingPackage =>
  (error as Partial<MissingPackage>).code === 'ERR_PLATFORM_PACKAGE';

function located(name: string, path: () => string): string {
  try {
    return path();
  } catch (error) {
    if (!isMissingPackage(error)) throw sidecarSpawn(name, (error as Error).message, error);
    const facts = { package: error.package, ...thisMachine(), installed: [...error.installed] };
    throw platformPackage(facts, PLATFORMS, error);
  }
}
