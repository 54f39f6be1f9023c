// The subcommands that need the package `@coldframe/server`, which is not a dependency of this
// package. The package may be installed beside this package, or in the folder of the user.

import Module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { serverPackageNotFound } from '../errors/make.js';
import { VERSION } from '../version.js';
import type { Arguments } from './subcommand.js';

const SPECIFIER = '@coldframe/server/command';

/** `CommandCall` of the package. */
interface CommandCall {
  name: string;
  operands: readonly string[];
  flags: ReadonlyMap<string, readonly (string | true)[]>;
}

interface ServerCommand {
  execute(call: CommandCall): Promise<number>;
}

export async function execute({ subcommand: { name }, operands, flags }: Arguments): Promise<number> {
  const { href } = pathToFileURL(locate());
  const server: ServerCommand = await import(href);
  return server.execute({ name, operands, flags });
}

/** Returns the path of the package's module. @throws `ERR_PACKAGE_NOT_FOUND` */
function locate(): string {
  const starts = [fileURLToPath(import.meta.url), join(process.cwd(), 'package.json')];
  const searched: string[] = [];
  for (const start of starts) {
    const { resolve } = Module.createRequire(start);
    try {
      return resolve(SPECIFIER);
    } catch {
      searched.push(...(resolve.paths(SPECIFIER) ?? []));
    }
  }
  throw serverPackageNotFound([...new Set(searched)], VERSION);
}
