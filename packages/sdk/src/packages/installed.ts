// Finds installed packages at run time. Bundlers cannot include packages with native files, and the
// files of such a package must stay beside each other. Therefore a bundle of an app can contain
// this package, but never the packages that this module finds.
//
// In a bundle, the present module is the bundle. Packages may then be installed for `coldframe`
// only, as pnpm installs them, so the search begins in the installed `coldframe`.

// webpack replaces calls of the named import `createRequire`.
import Module from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageNotFound } from '../errors/make.js';

// Bundlers that make CommonJS leave `import.meta` empty, and define `__filename`.
const ownModule = (): string => (import.meta.url as string | undefined) ?? __filename;

function resolveFrom(from: string, specifier: string): string | undefined {
  try {
    return Module.createRequire(from).resolve(specifier);
  } catch {
    return undefined;
  }
}

/** Returns the folders in which Node looks for a package that the module `from` imports. */
function searchedFrom(from: string): string[] {
  try {
    return Module.createRequire(from).resolve.paths('coldframe') ?? [];
  } catch {
    return [dirname(from)];
  }
}

/**
 * Returns the path of the module that `specifier` names, as `coldframe`, the present module or the
 * app's entry point would import the module.
 *
 * @throws `ERR_PACKAGE_NOT_FOUND`
 */
export function resolveInstalled(specifier: string): string {
  const starts = [ownModule(), process.argv[1]].filter((start) => start !== undefined);
  for (const start of starts) {
    const sdk = resolveFrom(start, 'coldframe');
    const path = (sdk === undefined ? undefined : resolveFrom(sdk, specifier)) ?? resolveFrom(start, specifier);
    if (path !== undefined) return path;
  }
  const [, name = specifier] = /^((?:@[^/]+\/)?[^/]+)/.exec(specifier) ?? [];
  throw packageNotFound(name, [...new Set(starts.flatMap(searchedFrom))]);
}

/** Imports an ES module of an installed package. @throws `ERR_PACKAGE_NOT_FOUND` */
export function importInstalled<T>(specifier: string): Promise<T> {
  const { href } = pathToFileURL(resolveInstalled(specifier));
  // With the comments, bundlers keep the module outside the bundle.
  return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ href);
}

/** Loads a CommonJS module of an installed package. @throws `ERR_PACKAGE_NOT_FOUND` */
export function requireInstalled<T>(specifier: string): T {
  return requireFile(resolveInstalled(specifier));
}

/** Loads a CommonJS module or a native addon by its absolute path. */
export function requireFile<T>(path: string): T {
  return Module.createRequire(path)(path);
}
