// Finds installed packages at run time. Bundlers cannot include packages with native files, and the
// files of such a package must stay beside each other. Therefore a bundle of an app can contain
// this package, but never the packages that this module finds.
//
// In a bundle, the present module is the bundle. Packages may then be installed for `coldframe`
// only, as pnpm installs them, so the search begins in the installed `coldframe`.
//
// This module also loads modules of Node that an app may not need.

// webpack replaces calls of the named import `createRequire`.
import Module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { packageNotFound } from '../errors/make.js';

/** The modules of Node that are loaded when they are first needed. */
interface Builtins {
  'node:child_process': typeof import('node:child_process');
  'node:crypto': typeof import('node:crypto');
  'node:events': typeof import('node:events');
  'node:fs': typeof import('node:fs');
  'node:http': typeof import('node:http');
  'node:net': typeof import('node:net');
  'node:stream': typeof import('node:stream');
  'node:stream/promises': typeof import('node:stream/promises');
  'node:tls': typeof import('node:tls');
  'node:zlib': typeof import('node:zlib');
}

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

const startsOfSearch = (): string[] => [ownModule(), process.argv[1]].filter((start) => start !== undefined);

/**
 * Returns the path of the module that `specifier` names, as `coldframe`, the present module or the
 * app's entry point would import the module.
 *
 * @throws `ERR_PACKAGE_NOT_FOUND`
 */
export function resolveInstalled(specifier: string): string {
  const starts = startsOfSearch();
  for (const start of starts) {
    const sdk = resolveFrom(start, 'coldframe');
    const path = (sdk === undefined ? undefined : resolveFrom(sdk, specifier)) ?? resolveFrom(start, specifier);
    if (path !== undefined) return path;
  }
  const [, name = specifier] = /^((?:@[^/]+\/)?[^/]+)/.exec(specifier) ?? [];
  throw packageNotFound(name, [...new Set(starts.flatMap(searchedFrom))]);
}

// With the comments, bundlers keep the module outside the bundle.
const importOutside = <T>(specifier: string): Promise<T> =>
  import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ specifier);

/**
 * Imports an ES module of a package that only `coldframe` depends on. The search is only necessary
 * in a bundle, and takes longer than an import.
 *
 * @throws `ERR_PACKAGE_NOT_FOUND`
 */
export async function importInstalled<T>(specifier: string): Promise<T> {
  try {
    return await importOutside<T>(specifier);
  } catch {
    // A module that has thrown throws the same error again.
    return importOutside<T>(pathToFileURL(resolveInstalled(specifier)).href);
  }
}

/**
 * Returns the path of a file of a package that the module `from` can import, if the file exists.
 */
function findFile(from: string, name: string, file: string): string | undefined {
  const { existsSync } = requireBuiltin('node:fs');
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name, file);
    if (existsSync(path)) return path;
    if (dirname(folder) === folder) return undefined;
  }
}

/**
 * Imports the ES module `file` of a package that need not be installed. Returns `undefined` if the
 * package is not installed. Most apps do not have the package, so the search makes few calls of the
 * file system. A failed `resolve()` takes some tenths of a millisecond.
 */
export async function importOptional<T>(name: string, file: string): Promise<T | undefined> {
  for (const start of startsOfSearch()) {
    const from = start.startsWith('file:') ? fileURLToPath(start) : start;
    const path = findFile(from, name, file) ?? findBesideSdk(from, name, file);
    if (path !== undefined) return importOutside<T>(pathToFileURL(path).href);
    // This module is not in a bundle, so the folders of its package have been searched.
    if (from.includes('/node_modules/coldframe/')) return undefined;
  }
  return undefined;
}

/** Finds a file of a package that is installed for `coldframe` only, as pnpm installs it. */
function findBesideSdk(from: string, name: string, file: string): string | undefined {
  if (from.includes('/node_modules/coldframe/')) return undefined;
  const sdk = findFile(from, 'coldframe', 'package.json');
  return sdk === undefined ? undefined : findFile(requireBuiltin('node:fs').realpathSync(sdk), name, file);
}

/** Loads a CommonJS module of an installed package. @throws `ERR_PACKAGE_NOT_FOUND` */
export function requireInstalled<T>(specifier: string): T {
  return requireFile(resolveInstalled(specifier));
}

let requireFromRoot: NodeJS.Require | undefined;

/**
 * Loads a module of Node when it is first needed. An import at the start of a file would make every
 * app wait for the module.
 */
export function requireBuiltin<N extends keyof Builtins>(name: N): Builtins[N] {
  requireFromRoot ??= Module.createRequire('/');
  return requireFromRoot(name) as Builtins[N];
}

/** Loads a CommonJS module or a native addon by its absolute path. */
export function requireFile<T>(path: string): T {
  return Module.createRequire(path)(path);
}
