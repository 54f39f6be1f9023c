// The report on the wall around a sidecar's process.

import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { wallsMissing } from '../errors/make.js';
import type { WallPart } from '../protocol/generated/messages.js';

/** A part of the wall around a sidecar's process, or around its edge process. */
export interface Wall {
  /**
   * The name: `userNamespace`, `mountNamespace`, `ipcNamespace`, `utsNamespace`, `noNewPrivileges`,
   * `capabilities`, `limits`, `landlock`, `notDumpable` or `seccomp`.
   */
  readonly name: string;
  /** Whether the operating system enforces the part. */
  readonly stands: boolean;
  /** The reason why the part is missing. */
  readonly reason?: string;
}

/** Returns the public form of a report. */
export const wallsFrom = (parts: readonly WallPart[]): readonly Wall[] =>
  parts.map(({ name, missing }) => (missing === undefined ? { name, stands: true } : { name, stands: false, reason: missing }));

/** Returns the parts of the wall around the sidecar. */
export const wallsOf = (connection: SidecarConnection): readonly Wall[] => wallsFrom(connection.walls());

/** Throws if a part is missing. The sidecar has sent its hello. */
export function requireWalls(connection: SidecarConnection): void {
  const walls = wallsOf(connection);
  const missing = walls.filter(({ stands }) => !stands);
  if (walls.length === 0 || missing.length > 0) throw wallsMissing(missing);
}
