// Locates the sidecar and the guest image. The packages `@coldframe/sidecar` and
// Locates the sidecar and the guest image. The packages `@coldframe/sidecar` and
// `@coldframe/runner` return the paths. Their native files are in platform packages, which npm
// installs as optional dependencies. A missing platform package becomes `ERR_PLATFORM_PACKAGE`. The
// package `@coldframe/python` is optional: without the package, the first program in Python fails.
//
// The packages are imported when the first sidecar is opened, in a way that no bundler follows,
// because a bundle cannot contain native files.

import type * as Runner from '@coldframe/runner';
import type * as Sidecar from '@coldframe/sidecar';
import { platformPackage, sidecarSpawn } from '../errors/make.js';
import { importInstalled, importOptional } from '../packages/installed.js';

/** The exports of `@coldframe/python`. */
interface Python {
  pythonDir(): string | undefined;
}

/** The packages with native files. */
export class Installation {
  readonly #runner: typeof Runner;
  readonly #sidecar: typeof Sidecar;
  readonly #python: Python | undefined;

  private constructor(runner: typeof Runner, sidecar: typeof Sidecar, python: Python | undefined) {
    this.#runner = runner;
    this.#sidecar = sidecar;
    this.#python = python;
  }

  /** Imports the packages. @throws `ERR_PACKAGE_NOT_FOUND` */
  static async load(): Promise<Installation> {
    const [runner, sidecar, python] = await Promise.all([
      importInstalled<typeof Runner>('@coldframe/runner'),
      importInstalled<typeof Sidecar>('@coldframe/sidecar'),
      importOptional<Python>('@coldframe/python', 'dist/index.js'),
    ]);
    return new Installation(runner, sidecar, python);
  }

  /**
   * Returns the path of the sidecar's program. @throws `ERR_SIDECAR_SPAWN`, `ERR_PLATFORM_PACKAGE`
   */
  locateSidecar(): string {
    return this.#located('@coldframe/sidecar', this.#sidecar.sidecarPath);
  }

  /**
   * Returns the path of the addon of the embedded sidecar. @throws `ERR_SIDECAR_SPAWN`,
   * `ERR_PLATFORM_PACKAGE`
   */
  locateAddon(): string {
    return this.#located('@coldframe/sidecar', this.#sidecar.addonPath);
  }

  /** Returns the folder of the guest image. @throws `ERR_SIDECAR_SPAWN`, `ERR_PLATFORM_PACKAGE` */
  locateImage(): string {
    return this.#located('@coldframe/runner', this.#runner.imageDir);
  }

  /**
   * Returns the folder of Python, or `undefined` if Python is not installed. @throws
   * `ERR_SIDECAR_SPAWN`, `ERR_PLATFORM_PACKAGE`
   */
  locatePython(): string | undefined {
    const python = this.#python;
    return python === undefined ? undefined : this.#located('@coldframe/python', () => python.pythonDir());
  }

  #located<T>(name: string, path: () => T): T {
    try {
      return path();
    } catch (error) {
      if (!isMissingPackage(error)) throw sidecarSpawn(name, (error as Error).message, error);
      const facts = { package: error.package, ...this.#sidecar.thisMachine(), installed: [...error.installed] };
      throw platformPackage(facts, this.#sidecar.PLATFORMS, error);
    }
  }
}

let loading: Promise<Installation> | undefined;

/** Returns the installed packages. A failed search is repeated by the next call. */
export function installation(): Promise<Installation> {
  loading ??= Installation.load().catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** The fields of the errors that the two packages throw. */
interface MissingPackage {
  code: 'ERR_PLATFORM_PACKAGE';
  package: string;
  installed: readonly string[];
}

const isMissingPackage = (error: unknown): error is MissingPackage =>
  (error as Partial<MissingPackage>).code === 'ERR_PLATFORM_PACKAGE';
