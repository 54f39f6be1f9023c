// The limits of a runtime as options. What each of them does when it is reached is in `docs/limits.md`; the numbers of both profiles too, and a
// test holds that page against this file and against the sidecar, which has the defaults. Next: `limit-bounds.ts`, what values they may have.

/** Walls around a runtime. Reaching one is an error for the program or for the caller, and nothing else is affected. */
export interface Limits {
  /**
   * Where the limits come from that are not named here: `hardened` has smaller ones, for code that is expected to be hostile.
   * @default 'default'
   */
  profile?: 'default' | 'hardened';
  /**
   * Linear memory of one program, engine and library included, in bytes.
   * @default 134_217_728 (128 MiB)
   */
  memoryBytes?: number;
  /**
   * Linear memory of all programs of the runtime together, in bytes.
   * @default 4_294_967_296 (4 GiB)
   */
  totalMemoryBytes?: number;
  /**
   * What the sidecar holds for programs beside their memory, their files and the buffers of their pipes and sockets, in bytes: requests and results of
   * computations, watches, arguments and environments of children, and the like. Beyond it programs get `ENOMEM` or `ENOBUFS`.
   * @default 134_217_728 (128 MiB)
   */
  kernelBytes?: number;
  /**
   * Processor time of one program (of one evaluation, in a resident runner), in milliseconds.
   * @default 30_000
   */
  cpuMs?: number;
  /**
   * How long a program or an evaluation may take that was given no `timeout`, in milliseconds; 0 is for ever.
   * @default 0
   */
  wallMs?: number;
  /**
   * Processes that may exist in the runtime at a time: what `exec` and its siblings start, runners, and the children of all of them, until
   * their parents have asked how they ended. Beyond it `spawn` is `EAGAIN` for the program, and `exec` fails with `ERR_RESOURCE_EXHAUSTED`.
   * @default 256
   */
  processes?: number;
  /**
   * Descriptors that one program may have open, its three standard streams included. Beyond it opening is `EMFILE`.
   * @default 256
   */
  descriptors?: number;
  /**
   * Pipes of the runtime. Beyond it they are `ENFILE`.
   * @default 768, three for each process
   */
  pipes?: number;
  /**
   * Bytes that may wait in each direction of a pipe; then its writer waits.
   * @default 65_536 (64 KiB)
   */
  pipeBytes?: number;
  /**
   * Sockets of the runtime. Beyond it they are `ENFILE`.
   * @default 256
   */
  sockets?: number;
  /**
   * Bytes that may wait in each direction of a connection, whose writer then waits, or at a datagram socket, which then loses what comes.
   * @default 65_536 (64 KiB)
   */
  socketBytes?: number;
  /**
   * Bytes that files in memory may hold; mounted folders do not count. Beyond it a write is `ENOSPC` for the program.
   * @default 67_108_864 (64 MiB)
   */
  filesystemBytes?: number;
  /**
   * Files, directories and links that may exist in memory.
   * @default 16_384
   */
  inodes?: number;
  /**
   * Files and directories of mounted folders that the runtime may have open: each is a descriptor of the sidecar's process. Beyond it opening is
   * `ENFILE`.
   * @default 256
   */
  hostFiles?: number;
  /**
   * Watches (`fs.watch`) of the runtime. Beyond it they are `ENOSPC`.
   * @default 1_024
   */
  watches?: number;
  /**
   * Operations that one program may have under way: reads of sockets, computations, watches, ends of children. Beyond it they are `ENOBUFS`.
   * @default 16_384
   */
  operations?: number;
  /**
   * Bytes of the arguments of one process. Beyond it starting it is `E2BIG`.
   * @default 1_048_576 (1 MiB)
   */
  argvBytes?: number;
  /**
   * Bytes of the environment of one process. Beyond it starting it is `E2BIG`.
   * @default 1_048_576 (1 MiB)
   */
  envBytes?: number;
  /**
   * Bytes that may wait for one program to read them from its stdin. Beyond it `writeStdin()` is `ENOBUFS`, and a longer `stdin` is
   * `ERR_RESOURCE_EXHAUSTED`.
   * @default 16_777_216 (16 MiB)
   */
  stdinBytes?: number;
  /**
   * Captured output of each of stdout and stderr of one program, in bytes. What comes after it is cut off, and the result says so; the program goes on.
   * @default 16_777_216 (16 MiB)
   */
  outputBytes?: number;
  /**
   * Bytes of JSON that a program may hand back with `__return()`. Beyond it the result has an `ERR_RESULT_LIMIT`.
   * @default 16_777_216 (16 MiB)
   */
  resultBytes?: number;
  /**
   * Bytes of the body of an answer that `runtime.fetch()` takes when the call has no `maxResponseBytes`. Beyond it the call fails with
   * `ERR_RESPONSE_TOO_LARGE`.
   * @default 1_048_576 (1 MiB)
   */
  fetchResponseBytes?: number;
}

/** The name of a limit that the sidecar keeps. */
export type LimitName = Exclude<keyof Limits, 'profile' | 'fetchResponseBytes'>;

/** A runtime comes near one of its limits. */
export interface LimitWarning {
  /** Which one. */
  limit: LimitName;
  /** How much is used: 80 % of it or more. */
  used: number;
  /** The limit. */
  max: number;
  /** The process, when the limit is one that each process has for itself. */
  pid?: number;
}

/** Takes warnings. What it throws is an uncaught exception: no call is waiting for it. */
export type LimitWarningListener = (warning: LimitWarning) => void;
