// Every error code that this package can give, with the facts that come as fields of the error.
//
// One table for both halves: the first two groups arrive over the wire (`docs/internals/protocol.md`, Errors), the last is made
// here. Match on `error.code`; a code never changes its meaning. Next: `error.ts`.

/** Why the sandbox ended a program: `result.error.code`. */
export interface FailureFacts {
  /** The program ran longer than its `timeout`. */
  ERR_TIMEOUT: { timeoutMs: number };
  /** The program used more processor time than `limits.cpuMs`. */
  ERR_CPU_LIMIT: { cpuMs: number };
  /** The program needs more memory than `limits.memoryBytes`, or its runtime more than `limits.totalMemoryBytes`: `limit` says which. */
  ERR_MEMORY_LIMIT: { memoryBytes: number; limit: string };
  /** The program handed back more JSON than `limits.resultBytes`. */
  ERR_RESULT_LIMIT: { resultBytes: number };
  /** The program was ended by its caller. */
  ERR_CANCELED: object;
  /** The program's runtime was disposed while it ran; of a call: before it began. */
  ERR_RUNTIME_DISPOSED: { runtime?: number };
  /** The program in the resident runner has ended, with `process.exit()` or because the sandbox ended it. */
  ERR_RUNNER_EXITED: { runner?: number; exitCode: number };
  /** The program's runtime went back to a snapshot in which it is not. */
  ERR_ROLLED_BACK: object;
  /** The engine faulted; its instance was discarded, neighbours are not affected. */
  ERR_ENGINE_FAULT: { reason: string };
}

/** What a call to the sidecar may be refused with. */
export interface RequestFacts {
  /** The sidecar does not accept a field of the request. */
  ERR_INVALID_REQUEST: { what: string; expected: string; received: string };
  /** SDK and sidecar are of different releases. */
  ERR_VERSION_MISMATCH: { sdk: string; sidecar: string };
  /** A message is larger than a frame may be. */
  ERR_FRAME_TOO_LARGE: { bytes: number; maxBytes: number };
  /** The sidecar knows no such runtime. */
  ERR_RUNTIME_NOT_FOUND: { runtime: number };
  /** The sidecar's process has no more of a host resource (address space, mappings, threads), or the runtime no more of a limit. */
  ERR_RESOURCE_EXHAUSTED: { resource: string; limit: number };
  /** An archive is damaged, cut off, or wants what is refused; `entry` is the name in it that is at fault. What was before it stays. */
  ERR_ARCHIVE: { entry: string; reason: string };
  /** The guest image is missing, damaged or of another build. */
  ERR_IMAGE: { path: string; reason: string };
}

/** What goes wrong with snapshots. */
export interface SnapshotFacts {
  /** The tenant has no such snapshot: it never had, it was deleted or made room, it lies in another folder, or lay in the memory of a sidecar that is gone. */
  ERR_SNAPSHOT_NOT_FOUND: { snapshot: string; tenant?: string };
  /** A file of a snapshot is torn, or not what it was. */
  ERR_SNAPSHOT_DAMAGED: { path: string; reason: string };
  /** The snapshot is of another image, format or processor: what it needs, and what is here. */
  ERR_SNAPSHOT_FOREIGN: { what: string; needed: string; found: string };
  /** A file of a snapshot cannot be written or read; `reason` is the system's. */
  ERR_SNAPSHOT_FILE: { path: string; errno?: string; reason: string };
  /** There is one of that id with another content. */
  ERR_SNAPSHOT_EXISTS: { id: string };
  /** The system did not allow the snapshot to be taken. */
  ERR_SNAPSHOT: { reason: string };
  /** The snapshot's programs had something that the caller must bring: a mount or a file system, by its guest path. */
  ERR_SNAPSHOT_LACKS: { what: string; missing: string };
  /** A program did not come to a point at which it can be saved: which one. */
  ERR_NOT_QUIET: { pid?: number; command?: string; timeoutMs?: number };
  /** The runtime was paused: `resume()` it. */
  ERR_RUNTIME_PAUSED: { runtime: number };
}

/** What goes wrong between the app and a guest's server. */
export interface NetworkFacts {
  /** Nobody began to listen within `timeoutMs`. */
  ERR_LISTENER_TIMEOUT: { timeoutMs: number; port?: number; host?: string; path?: string };
  /** The guest's answer was not there, all of it, within `timeoutMs`. */
  ERR_FETCH_TIMEOUT: { timeoutMs: number; port: number };
  /** The guest's answer has more bytes than `maxResponseBytes`. */
  ERR_RESPONSE_TOO_LARGE: { maxResponseBytes: number; port: number };
  /** What the guest has answered is not HTTP, or its head is too large. */
  ERR_RESPONSE_INVALID: { reason: string; port: number };
}

/** What goes wrong on this side of the wire. */
export interface LocalFacts {
  /** An option or argument is not what it must be; `option` is its path, such as `limits.memoryBytes`. */
  ERR_INVALID_OPTION: { option: string; expected: string; received: string };
  /** The sidecar could not be started. */
  ERR_SIDECAR_SPAWN: { path: string; reason: string };
  /** The sidecar's process ended while it was needed; `stderr` holds its last lines. */
  ERR_SIDECAR_EXITED: { pid: number; exitCode: number | null; signal: string | null; stderr: string };
  /** `dispose()` was called on the sidecar before or during the call. */
  ERR_SIDECAR_DISPOSED: object;
  /** `dispose()` was called on the runner before the call. */
  ERR_RUNNER_DISPOSED: { runner: number };
  /** The other side sent bytes that the protocol does not have. */
  ERR_PROTOCOL: { reason: string };
}

/** What a pool of runtimes refuses with. */
export interface PoolFacts {
  /** As many calls wait for a slot as may. */
  ERR_POOL_EXHAUSTED: { tenant: string; size: number; busy: number; waiting: number; maxWaiting: number };
  /** No slot became free within `timeoutMs`; `cause` says why none could be made, if that was tried. Of a step of a slot: it took so long. */
  ERR_POOL_TIMEOUT: { timeoutMs: number; tenant?: string; size?: number; busy?: number; waiting?: number };
  /** `drain()` or `dispose()` was called on the pool before the call, or `dispose()` during it. */
  ERR_POOL_DISPOSED: { draining: boolean };
  /** The runtime has been given back to its pool. */
  ERR_POOL_RELEASED: object;
}

/**
 * What an operation on files, processes or connections may be refused with: the name of Linux's error number. `path` is the guest path, the
 * command, the process's number, or the host and port.
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
  | 'EPERM'
  | 'EPIPE'
  | 'EROFS'
  | 'ESRCH'
  | 'EXDEV';

/** Facts of a file operation's errors. */
export type FileFacts = Record<FileErrorCode, { path: string; syscall: string }>;

/** What `callBinding()` rejects with in the guest, unless the handler's own error has a code: fields of that error. */
export interface BindingFacts {
  /** There is no binding of that name. */
  ERR_BINDING_NOT_FOUND: object;
  /** The input is not what the schema says (`issues`), too large, nested too deeply, or has a key `__proto__`. */
  ERR_BINDING_INPUT: { issues?: readonly { path: string; message: string }[] };
  /** The handler's result cannot be written as JSON, or is too large. */
  ERR_BINDING_OUTPUT: { bytes?: number; maxBytes?: number };
  /** The handler has not answered within the binding's `timeoutMs`. */
  ERR_BINDING_TIMEOUT: { timeoutMs: number };
  /** The runtime has too many calls under way. */
  ERR_BINDING_LIMIT: object;
  /** The handler threw something without a code. */
  ERR_BINDING_FAILED: object;
}

/** The codes of `callBinding()`. */
export type BindingErrorCode = keyof BindingFacts;

/** Facts by code. */
export interface ErrorFacts extends FailureFacts, RequestFacts, SnapshotFacts, LocalFacts, NetworkFacts, PoolFacts, FileFacts {}

/** Every code that `ColdframeError` can have. */
export type ErrorCode = keyof ErrorFacts;

/** The codes of `result.error`. */
export type FailureCode = keyof FailureFacts;
