// Grants: the paths that the sidecar's broker may open, and the process for outside connections.
// The sidecar behind its wall reaches no file of this machine. It asks its broker, and the broker
// opens only what this process has granted. A guest that has escaped into the sidecar can ask too,
// but cannot grant.
//
// A grant is sent before the request that names the path.

import type { Mount } from '../protocol/generated/messages.js';
import type { Requests } from '../protocol/generated/tables.js';

/**
 * The kinds of a grant: read or write a folder, import a file, export to a file. The kind `n`
 * allows the process that opens connections out of the runtimes, and has an empty path.
 */
export type GrantKind = 'r' | 'w' | 'i' | 'e' | 'n';

/** Grants a path. */
export type Grant = (kind: GrantKind, path: string) => void;

/** Grants the paths that a request names. */
export function grantPaths<N extends keyof Requests>(grant: Grant, name: N, body: Requests[N]['body']): void {
  const { mounts, path, outside } = body as { mounts?: readonly Mount[]; path?: string; outside?: object };
  if (outside !== undefined || name === 'outside.update') grant('n', '');
  if (name === 'snapshot.import' && path !== undefined) grant('i', path);
  if (name === 'snapshot.export' && path !== undefined) grant('e', path);
  for (const { hostPath, readOnly, fileSystem } of mounts ?? []) {
    if (fileSystem === undefined) grant(readOnly ? 'r' : 'w', hostPath);
  }
}
