// Lists the modules that Node loads, in a process of its own.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PROGRAM = fileURLToPath(new URL('fixtures/loaded-modules.mjs', import.meta.url));

/** Returns the URLs of all modules that an import of `specifiers` loads. */
export async function loadedBy(...specifiers: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...specifiers]);
  return stdout.trimEnd().split('\n');
}

/** Returns the modules of packages outside this repository. */
export const dependenciesIn = (urls: readonly string[]): string[] => urls.filter((url) => url.includes('/node_modules/'));
