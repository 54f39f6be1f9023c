// What a runtime's programs may do, and what there is to hear about it: the types. `docs/permissions.md` says what counts when.
// Next: `permissions.ts`, the checks.

/** Whether something may be done. What is denied is `EACCES` for the program; an environment variable is not there. */
export type PermissionMode = 'allow' | 'deny';

/** The operations of each scope. */
export interface PermissionOperations {
  fs:
    | 'read'
    | 'write'
    | 'stat'
    | 'readdir'
    | 'create_dir'
    | 'rm'
    | 'rename'
    | 'symlink'
    | 'link'
    | 'readlink'
    | 'chmod'
    | 'chown'
    | 'utimes'
    | 'truncate'
    | 'watch'
    | 'execute';
  network: 'listen' | 'connect' | 'udp' | 'dns';
  childProcess: 'spawn';
  process: 'signal' | 'chdir' | 'setpgid';
  env: 'read' | 'write';
  binding: 'call';
}

/** A kind of permission. */
export type PermissionScope = keyof PermissionOperations;

/** A rule about files. */
export interface FsPermissionRule {
  mode: PermissionMode;
  /** The operations that it is about. @default all */
  operations?: readonly PermissionOperations['fs'][];
  /**
   * Absolute guest paths, or such as begin with `**` and a slash. Each is the thing itself and all below it; `*` and `?` stand for text without
   * slashes, `**` for any names.
   * @default everything
   */
  paths?: readonly string[];
}

/** A rule about anything else. */
export interface PatternPermissionRule<S extends Exclude<PermissionScope, 'fs'>> {
  mode: PermissionMode;
  /** The operations that it is about. @default all */
  operations?: readonly PermissionOperations[S][];
  /** What it is about: `host:port` for the network, paths or names of programs, names of variables and bindings. @default everything */
  patterns?: readonly string[];
}

/** What one scope allows: everything, nothing, or what its rules say. The deepest rule counts, and at one depth one that denies. */
export type PermissionRules<Rule> =
  | PermissionMode
  | {
      /** Where no rule says anything. @default 'deny' */
      default?: PermissionMode;
      rules: readonly Rule[];
    };

/** What a runtime's programs may do. What the app does itself (`runtime.readFile()` and the like) is not asked about. */
export interface PermissionsPolicy {
  /** Files. @default 'allow' */
  fs?: PermissionRules<FsPermissionRule>;
  /** Sockets. @default what stays inside the runtime: `localhost`, and Unix sockets without a file */
  network?: PermissionRules<PatternPermissionRule<'network'>>;
  /** Starting programs. @default 'allow' */
  childProcess?: PermissionRules<PatternPermissionRule<'childProcess'>>;
  /** Signals to other processes, the working directory, process groups. @default 'allow' */
  process?: PermissionRules<PatternPermissionRule<'process'>>;
  /** Environment variables that programs are given. @default 'allow' */
  env?: PermissionRules<PatternPermissionRule<'env'>>;
  /** The app's own functions. @default 'allow' */
  binding?: PermissionRules<PatternPermissionRule<'binding'>>;
}

/** A decision about a permission. */
export interface PermissionEvent {
  readonly scope: PermissionScope;
  readonly operation: string;
  /** The path, address, variable or name that it was about. */
  readonly resource: string;
  readonly decision: PermissionMode;
  /** The rule that decided: its place in the scope's `rules`. Absent when the default did. */
  readonly rule?: number;
  /** The process that asked. */
  readonly pid: number;
  /** Milliseconds since 1970. */
  readonly time: number;
}
