// Makes sure that the sidecar's program has the permission to run. Some tools that pack or copy
// packages drop the permission: `pnpm pack` without `publishConfig.executableFiles`, zip archives,
// and copies between file systems.

import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fs } from './platform.js';

function canRun(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The private copies of this process, by the path of the original. */
const copies = new Map<string, string>();

/**
 * Returns a path at which the program `path` can be run. The path is `path` itself, after its mode
 * has been corrected if necessary. In a read-only installation, the path is a copy in a new folder
 * that only this user can enter. The copy exists until this process exits. `chmod` changes the mode
 * of a file.
 */
export function runnable(path: string, chmod: (path: string, mode: number) => void = fs.chmodSync): string {
  if (canRun(path)) return path;
  try {
    chmod(path, fs.statSync(path).mode | 0o111);
    if (canRun(path)) return path;
  } catch {
    // Another user owns the file, or the file system is read-only.
  }
  return copies.get(path) ?? copyOf(path);
}

function copyOf(path: string): string {
  // `mkdtemp` makes a new folder with mode 0700, so no other user can replace the program.
  const folder = fs.mkdtempSync(join(tmpdir(), 'coldframe-program-'));
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  const copy = join(folder, basename(path));
  fs.copyFileSync(path, copy);
  fs.chmodSync(copy, 0o700);
  copies.set(path, copy);
  return copy;
}
