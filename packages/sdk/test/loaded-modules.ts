// Lists the modules that Node loads for an import, in a process of its own.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const linesOf = async (program: string, specifiers: readonly string[]): Promise<string[]> => {
  const path = fileURLToPath(new URL(`fixtures/${program}`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [path, ...specifiers]);
  return stdout.split('\n').slice(0, -1);
};

/** Returns the URLs of all modules that an import of `specifiers` loads. */
export const loadedBy = (...specifiers: string[]): Promise<string[]> => linesOf('loaded-modules.mjs', specifiers);

/** Returns the names of the modules of Node that Node loads for an import of `specifiers`. */
export const builtinsLoadedBy = (...specifiers: string[]): Promise<string[]> => linesOf('loaded-builtins.mjs', specifiers);

/**
 * Returns the file names of the loaded modules of this package, without the hashes of chunks.
 * Chunks that only have a hash are called `chunk`.
 */
export function bundlesIn(urls: readonly string[]): string[] {
  const dist = new URL('../dist/', import.meta.url).href;
  const paths = urls.filter((url) => url.startsWith(dist)).map((url) => url.slice(dist.length));
  return paths.map((path) => path.replace(/-[0-9A-Z]{8}\.js$/, '.js'));
}

/** Returns the modules of packages outside this repository. */
export const dependenciesIn = (urls: readonly string[]): string[] => urls.filter((url) => url.includes('/node_modules/'));
