// Every error code of this package, with the facts that are fields of the error.
//
// The errors of the first three groups and of files usually arrive from the sidecar
// (`docs/internals/protocol.md`, Errors). This package makes the errors of the other groups. Match
// on `error.code`: a code never changes its meaning. Next: `error.ts`.

/** Reasons why the sandbox ended a program: `result.error.code`. */
export interface FailureFacts {
  /**
   * The program ran longer than its `timeout`, or without a `timeout` longer than `limits.wallMs`.
   */
  ERR_TIMEOUT: { timeoutMs: number };
  /** The program used more processor time than `limits.cpuMs`. */
  ERR_CPU_LIMIT: { cpuMs: number };
  /**
   * The program needs more memory than `limits.memoryBytes`, or its runtime more than
   * `limits.totalMemoryBytes`. `limit` names the limit.
   */
  ERR_MEMORY_LIMIT: { memoryBytes: number; limit: string };
  /** The program returned more JSON than `limits.resultBytes`. */
  ERR_RESULT_LIMIT: { resultBytes: number };
  /**
   * The value that the program returned has a key that the SDK refuses: `__proto__`, which changes
   * the prototypes of copies.
   */
  ERR_RESULT_REFUSED: { key: string };
  /** The app cancelled the program, or disposed the runner that evaluated the snippet. */
  ERR_CANCELED: object;
  /** `runner.interrupt()` has ended the evaluation. The runner keeps its state. */
  ERR_INTERRUPTED: object;
  /** The runtime was disposed while the program ran, or before the call. */
  ERR_RUNTIME_DISPOSED: { runtime?: number };
  /**
   * The resident runner's process has ended: by `process.exit()`, or because the sandbox ended it.
   */
  ERR_RUNNER_EXITED: { runner?: number; exitCode: number };
  /** The runtime was rolled back to a snapshot without the program. */
  ERR_ROLLED_BACK: object;
  /** The engine faulted. The program's VM was discarded. Other programs are not affected. */
  ERR_ENGINE_FAULT: { reason: string };
  /**
   * A defect of Coldframe ended the program, the call, or the whole runtime, as `ended` states. The
   * calls of an ended runtime reject with this error until the app disposes the runtime. `place` is
   * the file and the line in Coldframe's source.
   */
  ERR_INTERNAL: { place: string; ended: 'program' | 'request' | 'runtime' };
}

/** Reasons why the sidecar refuses a call. */
export interface RequestFacts {
  /** The sidecar does not accept the field `what` of the request. */
  ERR_INVALID_REQUEST: { what: string; expected: string; received: string };
  /** The SDK and the sidecar have different versions. */
  ERR_VERSION_MISMATCH: { sdk: string; sidecar: string };
  /** A message is larger than `maxBytes`, the largest frame. */
  ERR_FRAME_TOO_LARGE: { bytes: number; maxBytes: number };
  /** The sidecar has no runtime with that id. */
  ERR_RUNTIME_NOT_FOUND: { runtime: number };
  /**
   * A resource of the sidecar's process is exhausted (address space, mappings, threads), or a limit
   * of the runtime, the sidecar or the store is reached.
   */
  ERR_RESOURCE_EXHAUSTED: { resource: string; limit: number };
  /**
   * The path leads through the link `link`, which a program can have made, into the mount `mount`.
   * The app's calls follow such links only inside one mount. Pass the path in the mount.
   */
  ERR_LINK_TO_MOUNT: { link: string; mount: string; path: string; syscall: string };
  /**
   * An archive is damaged, incomplete, or contains a refused entry. `entry` is the name of the
   * faulty entry, or empty if the whole archive is at fault. Files of earlier entries stay.
   */
  ERR_ARCHIVE: { entry: string; reason: string };
  /**
   * The operating system lacks parts of the wall around the sidecar, and `walls` is `required`.
   * `missing` has the names of the parts, separated by commas.
   */
  ERR_WALLS_MISSING: { missing: string };
  /** A program in Python needs the package `package`, which is not installed. */
  ERR_PYTHON_MISSING: { package: string };
  /** The guest image at `path` is missing, damaged or from another build. */
  ERR_IMAGE: { path: string; reason: string };
}

/** Failures of snapshots. */
export interface SnapshotFacts {
  /**
   * The tenant has no snapshot with that id or name. The snapshot never existed, was deleted or
   * evicted, is in another folder, or was in the memory of an ended sidecar.
   */
  ERR_SNAPSHOT_NOT_FOUND: { snapshot: string; tenant?: string };
  /** A file of a snapshot is incomplete or changed. */
  ERR_SNAPSHOT_DAMAGED: { path: string; reason: string };
  /** The snapshot needs another image, format or processor than this sidecar has. */
  ERR_SNAPSHOT_FOREIGN: { what: string; needed: string; found: string };
  /** A file of a snapshot cannot be written or read. `reason` is the operating system's message. */
  ERR_SNAPSHOT_FILE: { path: string; errno?: string; reason: string };
  /**
   * A file cannot be imported, because the store has a snapshot with the file's id and other
   * content.
   */
  ERR_SNAPSHOT_EXISTS: { id: string };
  /** The operating system refused a step of the snapshot, which `reason` names. */
  ERR_SNAPSHOT: { reason: string };
  /**
   * The snapshot needs a mount that the caller did not pass: a folder or an app file system, by its
   * guest path.
   */
  ERR_SNAPSHOT_LACKS: { what: string; missing: string };
  /**
   * A program did not quiesce within `timeoutMs`. Without `pid`, another snapshot was in progress,
   * or a program was ending.
   */
  ERR_NOT_QUIET: { pid?: number; command?: string; timeoutMs?: number };
  /** The runtime is paused. Call `resume()`. */
  ERR_RUNTIME_PAUSED: { runtime: number };
  /** The app has detached the handle from its program, which continues. */
  ERR_DETACHED: { pid: number };
}

/**
 * The reason why a gateway did not forward a request.
 *
 * - `host`: the header `host` names no runtime.
 * - `target`: the target of the request is no path, or a request for an upgrade has a body.
 * - `token`: the token is missing or wrong.
 * - `not-found`: there is no runtime with the id.
 * - `not-listening`: no process listens at the port.
 * - `response`: the guest's response is not HTTP, or has ended before its head was complete.
 * - `timeout`: the guest did not respond in time.
 * - `unavailable`: the runtime has ended or is paused, or a function of the app has failed.
 */
export type GatewayReason = 'host' | 'target' | 'token' | 'not-found' | 'not-listening' | 'response' | 'timeout' | 'unavailable';

/** Failures of the app's calls to a server in a guest, and of connections out of runtimes. */
export interface NetworkFacts {
  /** No process began to listen within `timeoutMs`. */
  ERR_LISTENER_TIMEOUT: { timeoutMs: number; port?: number; host?: string; path?: string };
  /**
   * The awaited program ended before a process listened, or the last program of the runtime failed.
   * `stderr` has the last lines of the program's stderr. `signal` is the signal that ends a program
   * with this exit code. If the sandbox ended the program, `reason` is the code of the failure.
   */
  ERR_PROGRAM_EXITED: {
    exitCode: number;
    stderr: string;
    pid?: number;
    signal?: string;
    reason?: string;
    port?: number;
    host?: string;
    path?: string;
  };
  /** A gateway did not forward a request. `status` is the status of the response. */
  ERR_GATEWAY: { reason: GatewayReason; status: number; sandbox?: string; port?: number };
  /** The guest's response was not complete within `timeoutMs`. */
  ERR_FETCH_TIMEOUT: { timeoutMs: number; port: number };
  /** The guest's response has more bytes than `maxResponseBytes`. */
  ERR_RESPONSE_TOO_LARGE: { maxResponseBytes: number; port: number };
  /** The guest's response is not valid HTTP, or the head of the response is too large. */
  ERR_RESPONSE_INVALID: { reason: string; port: number };
  /**
   * The process that opens connections out of the runtimes has ended during the call, or cannot be
   * started. The next use starts the process again.
   */
  ERR_EDGE_ENDED: { reason: string };
}

/** Failures in this process. */
export interface LocalFacts {
  /** An option or argument is wrong. `option` is its path, such as `limits.memoryBytes`. */
  ERR_INVALID_OPTION: { option: string; expected: string; received: string };
  /**
   * The program failed, and the option `throwOnError` is set. If the sandbox ended the program,
   * `reason` is the code of the failure, and `cause` is the failure.
   */
  ERR_PROGRAM_FAILED: { exitCode: number; stdout: string; stderr: string; signal?: string; reason?: string };
  /**
   * A package that this package needs at run time is not installed where the app runs. `searched`
   * lists the folders without the package. The app may be a bundle that runs without its packages.
   */
  ERR_PACKAGE_NOT_FOUND: { package: string; searched: string[] };
  /**
   * The packages of the option `python` could not be installed. `output` has the last lines of pip.
   * `exitCode` is `null` for a file that could not be read.
   */
  ERR_PYTHON_PACKAGES: { packages: string[]; exitCode: number | null; output: string };
  /** `check()` has no result: the compiler took too long, or needed too much memory. */
  ERR_CHECK_FAILED: { reason: string };
  /** The sidecar could not be started. */
  ERR_SIDECAR_SPAWN: { path: string; reason: string };
  /**
   * The package with the native files for this machine is not installed. `package` is its name, or
   * empty if no package fits this machine. `installed` has the packages of other machines.
   */
  ERR_PLATFORM_PACKAGE: { package: string; os: string; cpu: string; libc: string; installed: string[] };
  /**
   * The sidecar's process ended before or during the call. `stderr` has the last lines that the
   * sidecar wrote to its stderr.
   */
  ERR_SIDECAR_EXITED: { pid: number; exitCode: number | null; signal: string | null; stderr: string };
  /** `dispose()` was called on the sidecar before or during the call. */
  ERR_SIDECAR_DISPOSED: object;
  /** `dispose()` was called on the runner before the call. */
  ERR_RUNNER_DISPOSED: { runner: number };
  /** A call or an option of secure-exec has no equivalent. `instead` names what to do instead. */
  ERR_NOT_SUPPORTED: { what: string; instead: string };
  /** The sidecar sent a message that the protocol does not allow. */
  ERR_PROTOCOL: { reason: string };
}

/** Failures of a pool. */
export interface PoolFacts {
  /**
   * The queue of waiting calls is full (`maxWaiting`). The error rejects the new call, or the
   * newest call of the tenant with the most waiting calls.
   */
  ERR_POOL_EXHAUSTED: { tenant: string; size: number; busy: number; waiting: number; maxWaiting: number };
  /**
   * No slot became free within `timeoutMs`. If slots could not be made, `cause` is the error
   * of the last attempt. Without `tenant`, a step of a slot, such as a rollback, or making the
   * pool's template took longer than `timeoutMs`.
   */
  ERR_POOL_TIMEOUT: { timeoutMs: number; tenant?: string; size?: number; busy?: number; waiting?: number };
  /**
   * `drain()` or `dispose()` was called on the pool before the call, or `dispose()` during the
   * call.
   */
  ERR_POOL_DISPOSED: { draining: boolean };
  /** The caller has released the runtime to the pool and must not use it. */
  ERR_POOL_RELEASED: object;
}

/** Failures of the command `coldframe`. */
export interface CommandFacts {
  /** A file of the host machine, which an argument names, cannot be read. */
  ERR_COMMAND_FILE: { path: string; reason: string };
  /** The server of `coldframe mcp` has no session with that id. */
  ERR_SESSION_NOT_FOUND: { session: string };
  /** The server of `coldframe mcp` has as many sessions as `maxSessions` allows. */
  ERR_SESSION_LIMIT: { sessions: number; maxSessions: number };
}

/**
 * Failures of files, processes and connections, by the names of Linux's error numbers. `path` is
 * the guest path, the command, the pid, or the host and port.
 */
export type FileErrorCode =
  | 'E2BIG'
  | 'EACCES'
  | 'EBADF'
  | 'EAGAIN'
  | 'EBUSY'
  | 'ECONNREFUSED'
  | 'ECONNRESET'
  | 'EEXIST'
  | 'EFBIG'
  | 'EINVAL'
  | 'EIO'
  | 'EISDIR'
  | 'ELOOP'
  | 'EMFILE'
  | 'ENAMETOOLONG'
  | 'ENFILE'
  | 'ENOBUFS'
  | 'ENOENT'
  | 'ENOEXEC'
  | 'ENOSPC'
  | 'ENOSYS'
  | 'ENOTDIR'
  | 'ENOTEMPTY'
  | 'EOPNOTSUPP'
  | 'EPERM'
  | 'EPIPE'
  | 'EROFS'
  | 'ESRCH'
  | 'EXDEV';

/** The facts of file errors. */
export type FileFacts = Record<FileErrorCode, { path: string; syscall: string }>;

/** Failures of `callBinding()` in the guest, unless the handler's own error has a code. */
export interface BindingFacts {
  /** No binding has this name. */
  ERR_BINDING_NOT_FOUND: object;
  /**
   * The input is not JSON, breaks the schema (`issues`), is too large or too deep, or has a key
   * `__proto__`.
   */
  ERR_BINDING_INPUT: { issues?: readonly { path: string; message: string }[] };
  /** The handler's result is not JSON, or is too large. */
  ERR_BINDING_OUTPUT: { bytes?: number; maxBytes?: number };
  /** The handler has not settled within the binding's `timeoutMs`. */
  ERR_BINDING_TIMEOUT: { timeoutMs: number };
  /** The runtime has too many pending calls of bindings, or too many bytes of their inputs. */
  ERR_BINDING_LIMIT: object;
  /** The handler threw an error without a code. */
  ERR_BINDING_FAILED: object;
}

/** The codes of `callBinding()`. */
export type BindingErrorCode = keyof BindingFacts;

/** The facts of each `ColdframeError`, by its code. */
export interface ErrorFacts
  extends FailureFacts,
    RequestFacts,
    SnapshotFacts,
    LocalFacts,
    NetworkFacts,
    PoolFacts,
    CommandFacts,
    FileFacts {}

/** Every code of a `ColdframeError`. */
export type ErrorCode = keyof ErrorFacts;

/** The codes of `result.error`. */
export type FailureCode = keyof FailureFacts;
