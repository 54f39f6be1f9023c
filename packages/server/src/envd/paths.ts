// Paths of clients: relative to the user's home directory, with `~`, and without `.` and `..`.

import { posix } from 'node:path';
import type { User } from './user.js';

/** Returns the absolute path that a client means with `path`. */
export function resolvePath(path: string, { home }: User): string {
  const given = path === '~' || path.startsWith('~/') ? home + path.slice(1) : path;
  const resolved = posix.resolve(home, given);
  return resolved.length > 1 && resolved.endsWith('/') ? resolved.slice(0, -1) : resolved;
}
