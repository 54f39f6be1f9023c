// The shapes of the server's responses, as far as the command and the page read them.

/** An entry of the list of sandboxes. Times are texts of RFC 3339. */
export interface SandboxEntry {
  sandboxID: string;
  templateID: string;
  alias?: string;
  state: 'running' | 'paused';
  startedAt: string;
  endAt: string;
  cpuCount: number;
  memoryMB: number;
  metadata: Record<string, string>;
}

/** The access to one sandbox. */
export interface SandboxAccess {
  sandboxID: string;
  templateID: string;
  envdAccessToken: string;
  trafficAccessToken?: string | null;
  domain?: string | null;
}

/** The use of resources at one time. Sizes are bytes. */
export interface Metric {
  timestampUnix: number;
  cpuUsedPct: number;
  memUsed: number;
  memTotal: number;
  diskUsed: number;
  diskTotal: number;
}

/** A line of a sandbox's log. */
export interface LogEntry {
  timestamp: string;
  level: string;
  message: string;
}

/** A snapshot. */
export interface SnapshotEntry {
  snapshotID: string;
  names: string[];
  /** The sandbox that the snapshot was taken of, where the server states it. */
  sandboxID?: string;
  /** The snapshot before this snapshot, where the server states it. */
  parentID?: string;
  createdAt?: string;
}

/** A template. */
export interface TemplateEntry {
  templateID: string;
  names?: string[];
  aliases?: string[];
  buildStatus?: string;
  createdAt?: string;
}

/** A file or a directory of a sandbox. */
export interface FileEntry {
  name: string;
  path: string;
  type: 'file' | 'directory' | 'symlink';
  /** Bytes. */
  size: number;
  permissions: string;
  owner: string;
  modifiedTime: string;
  symlinkTarget?: string;
}

/** The end of a program. */
export interface ProgramEnd {
  exitCode: number;
  exited: boolean;
  status: string;
}

/** A program that a client started. */
export interface ProgramEntry {
  pid: number;
  cmd: string;
  args: string[];
  tag?: string;
}
