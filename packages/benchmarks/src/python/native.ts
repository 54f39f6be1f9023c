// Finds the native Python that rows are compared with, and runs programs in it.

import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The version of the Python in the image, without its last number. */
const WANTED = '3.13';
const PYENV = join(homedir(), '.pyenv/versions');
const TIMEOUT_MS = 120_000;
const OUTPUT_BYTES = 16 << 20;

/** A native interpreter. */
export interface NativePython {
  /** The path of the interpreter itself, and not of a script that starts the interpreter. */
  path: string;
  version: string;
}

/**
 * Returns the native interpreter: the given path, an interpreter of the image's version, or any
 * `python3`.
 */
export function findNative(given: string): NativePython {
  const candidates = given === '' ? [`python${WANTED}`, ...pyenvVersions(), 'python3'] : [given];
  for (const candidate of candidates) {
    const found = described(candidate);
    if (found !== undefined) return found;
  }
  throw new Error(`no native Python: ${candidates.join(', ')}`);
}

const pyenvVersions = (): string[] =>
  existsSync(PYENV)
    ? readdirSync(PYENV)
        .filter((name) => name.startsWith(`${WANTED}.`))
        .map((name) => join(PYENV, name, 'bin/python3'))
    : [];

function described(command: string): NativePython | undefined {
  const code = 'import platform, sys; print(sys.executable); print(platform.python_version())';
  try {
    const [path = '', version = ''] = execFileSync(command, ['-c', code], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .trim()
      .split('\n');
    return { path, version };
  } catch {
    return undefined;
  }
}

/** Runs a program in the native interpreter. Resolves with its output. */
export const runNative = ({ path }: NativePython, code: string): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(path, ['-c', code], { timeout: TIMEOUT_MS, maxBuffer: OUTPUT_BYTES }, (error, stdout, stderr) => {
      if (error) reject(new Error(`native: ${stderr.trim().split('\n').at(-1) || error.message}`));
      else resolve(stdout);
    });
  });
