// The addon's functions, as `packages/sidecar/crates/node` provides them. Most requests are frames.
// Three requests determine the time of a program's start and have positional arguments. In the
// addon, reading a property by name takes as long as the rest of the call. Messages that no call
// returns go to `OnEvent`.

import type { Outcome } from '../channel/outcome.js';
import type { Failure, RequestId, RunnerId, RuntimeId } from '../protocol/generated/messages.js';

/** The kinds of events. */
export const Event = {
  /** The payload is one or more frames. */
  frames: 1,
  /** The payload is the outcome of the request `id`. */
  outcome: 2,
} as const;

/** Receives events on Node's thread, never within a call. */
export type OnEvent = (kind: number, id: number, payload: Buffer | Outcome) => void;

/**
 * Makes an outcome for the addon, because setting each property by name in the addon is slow.
 * `truncated` is 1 for stdout, 2 for stderr, or their sum. `signal` is 0 for a program that exited.
 */
export function makeOutcome(
  exitCode: number,
  stdout: Uint8Array | string,
  stderr: Uint8Array | string,
  value: string | null | undefined,
  failure: Failure | null | undefined,
  truncated: number,
  memoryMapNs: number,
  instantiateNs: number,
  guestStartNs: number,
  guestRunNs: number,
  signal: number,
): Outcome {
  return {
    exitCode,
    signal: signal === 0 ? undefined : signal,
    stdout,
    stderr,
    value: value ?? undefined,
    failure: failure ?? undefined,
    stdoutTruncated: (truncated & 1) !== 0,
    stderrTruncated: (truncated & 2) !== 0,
    timings: { memoryMapNs, instantiateNs, guestStartNs, guestRunNs },
  };
}

/** Options of `open()`. */
export interface AddonOptions {
  imageDir: string;
  /** The folder of Python. `undefined` if Python is not installed. */
  pythonDir?: string | undefined;
  /** The path of the program that opens connections out of runtimes. */
  edge: string;
  /** See `SidecarSpawnOptions`. `undefined` means the addon's default. */
  workers: number | undefined;
  warmSlots: number | undefined;
  maxRuntimes: number | undefined;
  spinUs: number | undefined;
  /** Microseconds that a program may run on the calling thread. */
  inlineUs: number;
  /** The topics of the log for developers. `undefined` means no log. */
  log?: string | undefined;
  /** The store's folder, and the largest size of all snapshots on disk and in memory. */
  snapshots: { directory: string; maxBytes: number; memoryBytes: number };
}

/** The exports of the addon. */
export interface Addon {
  /** Opens a session. Throws an `Error` with `code` and `details`, as every function below does. */
  open(options: AddonOptions, onEvent: OnEvent, outcome: typeof makeOutcome): AddonSession;
}

type Env = Readonly<Record<string, string>>;

/**
 * A session. The caller chooses the id of each request: not 0, and not the id of a pending request.
 */
export interface AddonSession {
  /** The session's first message, as a frame. */
  readonly hello: Buffer;
  /** Handles a frame. Returns the reply as a frame, or null if the reply follows as an event. */
  send(frame: Uint8Array): Buffer | null;
  /**
   * Creates a runtime. `limits` are the names of limits, and `values` are the values of these
   * limits.
   */
  createRuntime(
    env?: Env,
    cwd?: string,
    profile?: string,
    limits?: readonly string[],
    values?: readonly number[],
    tenant?: string,
  ): RuntimeId;
  /**
   * Starts a program. Returns its outcome, or the failure as a frame, if the program has ended
   * within the call, else null. After null, the outcome follows as an event. `mode` is 0 for exec,
   * 1 for run, 2 for file, 3 for command.
   */
  start(
    id: RequestId,
    runtime: RuntimeId,
    mode: number,
    code: string,
    args: readonly string[] | undefined,
    env: Env | undefined,
    cwd: string | undefined,
    stdin: Uint8Array | undefined,
    timeoutMs: number | undefined,
    execArgv: readonly string[] | undefined,
  ): Outcome | Buffer | null;
  /** Evaluates a snippet. Returns as `start` does. */
  evaluate(id: RequestId, runner: RunnerId, code: string, timeoutMs: number | undefined): Outcome | Buffer | null;
  /** Sets whether Node's event loop and the session stay alive. */
  hold(alive: boolean): void;
  /** Ends all guests. The other functions throw from then on. */
  shutdown(): void;
}
