// Runs a program that consists of several files. The files are in a directory of their own, which
// is removed after the program.

import { invalidOption } from '../errors/make.js';
import { toBytes, writeFile } from '../files/contents.js';
import { makeTemporaryDirectory } from '../files/temporary-directory.js';
import { checkArgument, checkOptions } from '../options/check.js';
import { type ExecFilesOptions, PROGRAM_FILES, type RunOptions } from '../options/programs.js';
import type { ExecResult } from '../programs/result.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';

/** The files of a program: paths relative to their directory, and contents. */
export type ProgramFiles = Readonly<Record<string, string | Uint8Array>>;

/**
 * Writes `files` to a new directory, runs `entry` there with `execFile`, and removes the directory.
 * A program that removes or replaces the directory does not fail the call.
 */
export async function execFiles(
  access: RuntimeAccess,
  execFile: (path: string, options: RunOptions) => Promise<ExecResult>,
  files: ProgramFiles,
  { entry, ...options }: ExecFilesOptions = {},
): Promise<ExecResult> {
  checkOptions('execFiles()', { entry, ...options });
  checkArgument('execFiles()', 'files', PROGRAM_FILES, files);
  const paths = Object.keys(files);
  const main = entry ?? paths[0];
  if (main === undefined || !paths.includes(main)) throw missingEntry(main, paths);
  access.assertUsable();
  const { connection, runtime } = access;
  const directory = await makeTemporaryDirectory(access, '/tmp/exec-');
  try {
    for (const path of paths) {
      await writeFile(connection, runtime, `${directory}/${path}`, toBytes(files[path] as string | Uint8Array), undefined);
    }
    return await execFile(`${directory}/${main}`, { cwd: directory, ...options });
  } finally {
    await connection.request('file.remove', { runtime, path: directory, recursive: true }).catch(() => {});
  }
}

function missingEntry(entry: string | undefined, paths: readonly string[]) {
  const [option, received] = entry === undefined ? ['files', 'no file'] : ['entry', `'${entry}'`];
  const expected = entry === undefined ? 'at least one file' : `one of ${paths.slice(0, 10).join(', ')}`;
  return invalidOption('execFiles()', { option, expected, received });
}
