// Reads the program to run. The error of an unreadable file names the file.

import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { BuildFailure } from '../build/failure.mjs';
import { fromRoot } from '../build/paths.mjs';

const FIRST_PROGRAM = fromRoot('examples', 'first-program.mjs');

// FILE is relative to the folder in which the command was typed, but pnpm runs scripts in the root
// of the repository.
const typedIn = process.env.INIT_CWD ?? process.cwd();

export function readProgram(file) {
  const path = file === undefined ? FIRST_PROGRAM : resolve(typedIn, file);
  try {
    return { name: relative(typedIn, path), code: readFileSync(path, 'utf8') };
  } catch (error) {
    throw new BuildFailure(`FILE: expected a readable JavaScript file, received ${path} (${error.code ?? error.message})`);
  }
}
