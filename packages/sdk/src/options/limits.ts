// The limits of a runtime as options. `docs/limits.md` has the effect of each limit and the numbers
// of both profiles. A test compares that page with this file and with the sidecar's table,
// `crates/kernel/src/limits.rs`, which has the defaults and checks the bounds again.

import { MAX_TIMER_MS, oneOf, whole } from './rule.js';
import { known, type OptionTable, objectWith } from './table.js';

/**
 * Limits of a runtime. If a program reaches a limit, an operation fails or waits, or the program is
 * ended: see `docs/limits.md`. Other runtimes are not affected.
 */
export interface Limits {
  /**
   * The profile with the values of all limits that are not set here. `hardened` has smaller limits
   * than `default`, for code that is expected to be hostile.
   * @default 'default'
   */
  profile?: 'default' | 'hardened' | undefined;
  /**
   * Linear memory of one program in bytes, engine and library included.
   * @default 134_217_728 (128 MiB)
   */
  memoryBytes?: number | undefined;
  /**
   * Linear memory of all programs of the runtime together, in bytes.
   * @default 4_294_967_296 (4 GiB)
   */
  totalMemoryBytes?: number | undefined;
  /**
   * Bytes of memory that the sidecar uses for programs, beside their memory, their files and the
   * buffers of their pipes and sockets. Examples are requests and results of computations, watches,
   * and arguments and environments of children. Beyond the limit programs get `ENOMEM` or
   * `ENOBUFS`.
   * @default 134_217_728 (128 MiB)
   */
  kernelBytes?: number | undefined;
  /**
   * Processor time in milliseconds of one program, or of one evaluation in a resident runner.
   * @default 30_000
   */
  cpuMs?: number | undefined;
  /**
   * Wall-clock limit in milliseconds of a program or an evaluation without a `timeout`. 0 means no
   * limit.
   * @default 0
   */
  wallMs?: number | undefined;
  /**
   * Processor time in milliseconds of all programs of the runtime together, since its creation.
   * Beyond the limit all programs end with `ERR_CPU_LIMIT`, and later calls that run a program fail
   * with that code. 0 means no limit.
   * @default 0
   */
  runtimeCpuMs?: number | undefined;
  /**
   * Wall-clock time in milliseconds of the runtime since its creation, without the time in which
   * the runtime was paused. Beyond the limit all programs end with `ERR_TIMEOUT`, and later calls
   * that run a program fail with that code. 0 means no limit.
   * @default 0
   */
  runtimeWallMs?: number | undefined;
  /**
   * Processes of the runtime at a time: programs, resident runners, and their children. An ended
   * child counts until its parent has waited for it. Beyond the limit `spawn` fails with `EAGAIN`
   * in the program, and `exec` fails with `ERR_RESOURCE_EXHAUSTED`.
   * @default 256
   */
  processes?: number | undefined;
  /**
   * Open descriptors of one program, its three standard streams included. Beyond the limit, opening
   * fails with `EMFILE`.
   * @default 256
   */
  descriptors?: number | undefined;
  /**
   * Pipes of the runtime. Beyond the limit, making a pipe fails with `ENFILE`.
   * @default 768, three for each process
   */
  pipes?: number | undefined;
  /**
   * Bytes that may wait in each direction of a pipe. The writer of a full pipe waits.
   * @default 65_536 (64 KiB)
   */
  pipeBytes?: number | undefined;
  /**
   * Terminals of the runtime. Beyond the limit, `openTerminal()` fails with
   * `ERR_RESOURCE_EXHAUSTED`, and a program that makes a terminal gets `ENOSPC`.
   * @default 64
   */
  terminals?: number | undefined;
  /**
   * Sockets of the runtime. Beyond the limit, making a socket fails with `ENFILE`.
   * @default 256
   */
  sockets?: number | undefined;
  /**
   * Bytes that may wait in each direction of a connection, or at a datagram socket. The writer of a
   * full connection waits; a full datagram socket drops further datagrams.
   * @default 65_536 (64 KiB)
   */
  socketBytes?: number | undefined;
  /**
   * Bytes of files in memory. Mounted folders do not count. Beyond the limit a write fails with
   * `ENOSPC` in the program.
   * @default 67_108_864 (64 MiB)
   */
  filesystemBytes?: number | undefined;
  /**
   * Files, directories and links in memory. Beyond the limit, making a file fails with `ENOSPC`.
   * @default 16_384
   */
  inodes?: number | undefined;
  /**
   * Open files and directories of mounted folders. Each is a descriptor of the sidecar's process.
   * Beyond the limit, opening fails with `ENFILE`.
   * @default 256
   */
  hostFiles?: number | undefined;
  /**
   * Watches (`fs.watch`) of the runtime. Beyond the limit, watching fails with `ENOSPC`.
   * @default 1_024
   */
  watches?: number | undefined;
  /**
   * Pending operations of one program: reads of sockets, computations, watches, ends of children.
   * Beyond the limit, operations fail with `ENOBUFS`.
   * @default 16_384
   */
  operations?: number | undefined;
  /**
   * Bytes of the arguments of one process. Beyond the limit, starting the process fails with
   * `E2BIG`.
   * @default 1_048_576 (1 MiB)
   */
  argvBytes?: number | undefined;
  /**
   * Bytes of the environment of one process. Beyond the limit, starting the process fails with
   * `E2BIG`.
   * @default 1_048_576 (1 MiB)
   */
  envBytes?: number | undefined;
  /**
   * Bytes that may wait for one program to read them from its stdin. Beyond the limit
   * `writeStdin()` fails with `ENOBUFS`, and a longer `stdin` with `ERR_RESOURCE_EXHAUSTED`.
   * @default 16_777_216 (16 MiB)
   */
  stdinBytes?: number | undefined;
  /**
   * Bytes of stdout that are captured for one program. The limit for stderr is equal. Further
   * output is not captured, and the result is marked as truncated. The program continues.
   * @default 16_777_216 (16 MiB)
   */
  outputBytes?: number | undefined;
  /**
   * Bytes of JSON that a program may return with `__return()`. Beyond the limit `error` of the
   * result has the code `ERR_RESULT_LIMIT`.
   * @default 16_777_216 (16 MiB)
   */
  resultBytes?: number | undefined;
  /**
   * Bytes of a response body that `runtime.fetch()` accepts without `maxResponseBytes`. Beyond the
   * limit the call fails with `ERR_RESPONSE_TOO_LARGE`.
   * @default 1_048_576 (1 MiB)
   */
  fetchResponseBytes?: number | undefined;
}

/**
 * Limits of one program, below the limits of its runtime. The children of the program have the same
 * limits.
 */
export interface ProgramLimits extends Pick<Limits, 'memoryBytes' | 'cpuMs' | 'outputBytes' | 'resultBytes'> {}

/** The name of a limit that the sidecar enforces. */
export type LimitName = Exclude<keyof Limits, 'profile' | 'fetchResponseBytes'>;

/** A warning: the use of a limit has reached 80 %. */
export interface LimitWarning {
  /** The name of the limit. */
  limit: LimitName;
  /** The present use: 80 % of the limit or more. */
  used: number;
  /** The limit. */
  max: number;
  /** The pid of the process, if the limit applies to each process. */
  pid?: number;
}

/**
 * Receives limit warnings. An error that the function throws becomes an uncaught exception, because
 * no call can report the error.
 */
export type LimitWarningListener = (warning: LimitWarning) => void;

const MIB = 1_048_576;
const TERABYTE = 1_099_511_627_776;
/**
 * The largest number that Node accepts as milliseconds of a timer. The sidecar uses this number
 * also as the bound of `stdinBytes` and `outputBytes`.
 */
const LARGEST = MAX_TIMER_MS;
/** The largest body of a response in bytes: the longest text that Node's engine can store. */
export const MAX_RESPONSE_BYTES = 536_870_888;

const bytes = (min: number, max: number) => whole(min, max, 'bytes');
const ms = (min: number, max: number) => whole(min, max, 'milliseconds');
const IN_BYTES = ', in bytes';
const IN_MS = ', in milliseconds';

/** The row of each limit. */
export const LIMITS: OptionTable<Limits> = {
  memoryBytes: known(
    bytes(1, 2_048 * MIB),
    ['memory', 'memoryMb', 'memoryMB', 'memoryLimit', 'memoryLimitBytes', 'maxMemory'],
    IN_BYTES,
  ),
  totalMemoryBytes: bytes(1, TERABYTE),
  kernelBytes: bytes(65_536, TERABYTE),
  cpuMs: known(ms(1, LARGEST), ['cpuTime', 'cpuTimeLimitMs', 'cpuLimit'], IN_MS),
  wallMs: known(ms(0, LARGEST), ['wallTimeMs'], IN_MS),
  runtimeCpuMs: ms(0, LARGEST),
  runtimeWallMs: ms(0, LARGEST),
  processes: known(whole(1, 65_536, 'processes'), ['maxProcesses']),
  descriptors: known(whole(3, 65_536, 'descriptors'), ['maxOpenFiles', 'fds']),
  pipes: known(whole(0, 196_608, 'pipes'), ['maxPipes']),
  pipeBytes: bytes(4_096, 16 * MIB),
  terminals: known(whole(0, 4_096, 'terminals'), ['ptys', 'maxTerminals']),
  sockets: known(whole(0, 65_536, 'sockets'), ['maxSockets']),
  socketBytes: bytes(4_096, 16 * MIB),
  filesystemBytes: known(bytes(0, TERABYTE), ['maxFilesystemBytes'], IN_BYTES),
  inodes: known(whole(0, 16 * MIB, 'files'), ['maxFiles']),
  hostFiles: whole(0, 65_536, 'files'),
  watches: whole(0, 65_536, 'watches'),
  operations: whole(16, MIB, 'operations'),
  argvBytes: bytes(4_096, 16 * MIB),
  envBytes: bytes(4_096, 16 * MIB),
  stdinBytes: bytes(0, LARGEST),
  outputBytes: known(bytes(0, LARGEST), ['maxBuffer', 'maxOutputBytes'], IN_BYTES),
  resultBytes: bytes(0, 16 * MIB),
  // This package enforces this limit. The limit is not sent to the sidecar.
  fetchResponseBytes: bytes(0, MAX_RESPONSE_BYTES),
  profile: oneOf(['default', 'hardened'], "'default' or 'hardened'"),
};

/** Accepts limits of one program. */
export const PROGRAM_LIMITS = objectWith(
  {
    memoryBytes: LIMITS.memoryBytes,
    cpuMs: LIMITS.cpuMs,
    outputBytes: LIMITS.outputBytes,
    resultBytes: LIMITS.resultBytes,
  } satisfies OptionTable<ProgramLimits>,
  'an object with memoryBytes, cpuMs, outputBytes or resultBytes',
);

/** Accepts limits. */
export const LIMIT_OPTIONS = objectWith(LIMITS, 'an object with limits');
