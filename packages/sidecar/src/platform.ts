// Finds the platform package, which has the native files for this machine. `@coldframe/sidecar`
// lists all platform packages as optional dependencies. npm installs the package whose `os`, `cpu`
// and `libc` fit. Next: `runnable.ts`.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/**
 * Node's `fs`. An `import` of `node:fs` reads every export, and makes Node load the modules of
 * streams, promises and `readline` for some of the exports.
 */
export const fs = require('node:fs') as typeof import('node:fs');

/** The platforms that have a package, as `os-cpu-libc`. */
export const PLATFORMS: readonly string[] = ['linux-x64-gnu', 'linux-arm64-gnu', 'linux-x64-musl', 'linux-arm64-musl'];

/** A machine, in the words of Node and of `package.json`. */
export interface Machine {
  /** `process.platform`. */
  os: string;
  /** `process.arch`. */
  cpu: string;
  /** The C library of this process: `glibc`, `musl`, or `unknown`. */
  libc: string;
}

/** The platform package for this machine is missing, or no platform package fits this machine. */
export class PlatformPackageError extends Error {
  readonly code = 'ERR_PLATFORM_PACKAGE';
  /** The name of the missing package. Empty if no platform package fits this machine. */
  readonly package: string;
  /** The installed platform packages, which are for other machines. */
  readonly installed: readonly string[];
  readonly machine: Machine;

  constructor(name: string, installed: readonly string[], machine: Machine) {
    super(name === '' ? 'there is no package for this machine' : `the package ${name} is missing`);
    this.package = name;
    this.installed = installed;
    this.machine = machine;
  }
}

/** Returns the machine of this process. */
export function thisMachine(): Machine {
  // The library reads the program header of Node's binary. It is loaded only here, because a
  // checkout needs no platform package.
  const { familySync } = require('detect-libc') as typeof import('detect-libc');
  return { os: process.platform, cpu: process.arch, libc: familySync() ?? 'unknown' };
}

/** Returns the folder of the installed package `name`, or `undefined`. */
function installedFolder(name: string): string | undefined {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/**
 * Returns the path of `file` in the platform package for `machine`. `prefix` is the part of the
 * package's name before the platform. `folderOf` returns the folder of an installed package.
 *
 * @throws `PlatformPackageError` if the package is not installed.
 */
export function platformFile(
  prefix: string,
  file: string,
  machine: Machine = thisMachine(),
  folderOf: (name: string) => string | undefined = installedFolder,
): string {
  const { os, cpu, libc } = machine;
  const wanted = `${os}-${cpu}-${libc === 'musl' ? 'musl' : 'gnu'}`;
  const name = PLATFORMS.includes(wanted) ? prefix + wanted : '';
  const folder = name === '' ? undefined : folderOf(name);
  const path = folder === undefined ? undefined : join(folder, file);
  if (path !== undefined && fs.existsSync(path)) return path;
  const others = PLATFORMS.map((platform) => prefix + platform).filter((other) => other !== name);
  throw new PlatformPackageError(
    name,
    others.filter((other) => folderOf(other) !== undefined),
    machine,
  );
}
