// Checks the working directory of a program before the program starts. The sidecar would make a
// missing directory, which hides a wrong path.

import { isColdframeError } from '../errors/error.js';
import { noWorkingDirectory } from '../errors/make.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';

/**
 * Rejects with `ENOENT` or `ENOTDIR` if `cwd`, the option of `call`, is not a directory of the
 * runtime. Rejects with `EOPNOTSUPP` for a directory below the mount point of an app file system,
 * because only the app knows the directory.
 */
export async function assertWorkingDirectory(access: RuntimeAccess, call: string, cwd: string): Promise<void> {
  const { connection, runtime } = access;
  try {
    const { type } = await connection.request('file.stat', { runtime, path: cwd });
    if (type !== 'directory') throw noWorkingDirectory(call, 'ENOTDIR', cwd);
  } catch (error) {
    if (isColdframeError(error, 'ENOENT', 'EOPNOTSUPP')) throw noWorkingDirectory(call, error.code, cwd);
    // The app's calls follow no link into a mount that a program may have made. The program itself
    // may follow the link, with its own permissions.
    if (!isColdframeError(error, 'ERR_LINK_TO_MOUNT')) throw error;
  }
  // The app may have disposed or paused the runtime during the request.
  access.assertUsable();
}
