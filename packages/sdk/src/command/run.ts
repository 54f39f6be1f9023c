// `coldframe run FILE|- [ARGUMENT...]`: runs a file as `node FILE` does.
//
// A file below a mounted folder runs at its place in the mount, so that its relative imports work.
// Any other file is copied into the sandbox alone, because its folder may contain secrets.

import { readFile, realpath } from 'node:fs/promises';
import { basename, join, posix, relative, resolve, sep } from 'node:path';
import { commandFile } from '../errors/make.js';
import type { NodeRuntimeOptions } from '../runtime/options.js';
import { wrongOperands } from './parse.js';
import { runProgram } from './program.js';
import { runtimeOptions, timeoutOf } from './runtime-options.js';
import type { Arguments } from './subcommand.js';

/** The folder of a file that is copied into the sandbox. */
const FOLDER = '/workspace';

export async function execute(args: Arguments): Promise<number> {
  const [file, ...rest] = args.operands;
  if (file === undefined) wrongOperands(args);
  const timeout = timeoutOf(args);
  if (file === '-') {
    const code = await readStdin();
    return runProgram(args, (runtime, output) => runtime.spawn(code, { ...timeout, args: rest, ...output }));
  }
  const { mounts, snapshot } = runtimeOptions(args);
  const mounted = await mountedPath(file, mounts ?? []);
  const path = mounted ?? join(FOLDER, basename(file));
  const content = mounted === undefined ? await read(file) : undefined;
  const isCopied = content !== undefined && snapshot === undefined;
  return runProgram(
    args,
    async (runtime, output) => {
      // The files of a snapshot cannot be combined with the option `files`.
      if (content !== undefined && !isCopied) await runtime.writeFile(path, content);
      return runtime.spawnCommand('node', [path, ...rest], { ...timeout, ...output });
    },
    isCopied ? { files: { [path]: content } } : {},
  );
}

// Returns the guest path of a file in the deepest mounted folder that contains the file.
async function mountedPath(file: string, mounts: NonNullable<NodeRuntimeOptions['mounts']>): Promise<string | undefined> {
  if (mounts.length === 0) return undefined;
  const place = await realpath(file).catch((error: Error) => {
    throw commandFile(file, error.message, error);
  });
  let deepest: { path: string; length: number } | undefined;
  for (const mount of mounts) {
    if (!('hostPath' in mount)) continue;
    const folder = await realpath(mount.hostPath).catch(() => resolve(mount.hostPath));
    const below = relative(folder, place);
    if (below === '' || below === '..' || below.startsWith(`..${sep}`)) continue;
    if (deepest === undefined || folder.length > deepest.length) {
      deepest = { path: posix.join(mount.guestPath, below), length: folder.length };
    }
  }
  return deepest?.path;
}

async function read(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    throw commandFile(file, (error as Error).message, error);
  }
}

async function readStdin(): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
