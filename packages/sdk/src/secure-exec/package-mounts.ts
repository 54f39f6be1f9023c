// Mounts of packages. A program of secure-exec is a file in `/tmp`, and finds packages in
// `node_modules` of `/tmp` and `/root`. A program of the SDK has no file, and finds packages from
// its working directory. So packages are mounted there too.

import type { Mount } from '../index.js';
import { isObject } from '../options/rule.js';

/** The working directory of programs, unless `cwd` is set. */
export const DEFAULT_CWD = '/workspace';

const PACKAGE_FOLDER = /^\/(?:tmp|root)\/node_modules(?=\/|$)/;

/** Returns whether programs of secure-exec find packages at a guest path. */
export const isPackagePath = (guestPath: string): boolean => PACKAGE_FOLDER.test(guestPath);

/** Adds a mount below the working directory for each mount of packages. */
export function withPackageMounts(mounts: readonly Mount[], cwd: string): Mount[] {
  const folder = `${cwd === '/' ? '' : cwd}/node_modules`;
  return mounts.flatMap((mount) => {
    if (!isObject(mount) || typeof mount.guestPath !== 'string' || !isPackagePath(mount.guestPath)) return [mount];
    return [mount, { ...mount, guestPath: mount.guestPath.replace(PACKAGE_FOLDER, folder) }];
  });
}
