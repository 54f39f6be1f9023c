// The types of secure-exec 0.3 by their names. Each optional property also accepts `undefined`, for
// apps with `exactOptionalPropertyTypes`.

import type { BindingContext, BootTiming, Failure, JsonSchema, StandardSchema } from '../index.js';

/** A step of a start. */
export type NodeRuntimeBootTiming = BootTiming;
/** The name of a step of a start. */
export type NodeRuntimeBootTimingPhase = BootTiming['phase'];

/** A folder of the host machine in the guest's tree. */
export interface HostDirectoryMount {
  guestPath: string;
  hostPath: string;
  /** @default true */
  readOnly?: boolean | undefined;
}

/** A `node_modules` folder of the host machine. */
export interface NodeModulesMount {
  hostPath: string;
  /** @default `node_modules` in the runtime's working directory */
  guestPath?: string | undefined;
}

/** An input that shows the use of a binding. */
export interface HostToolExample {
  description?: string | undefined;
  input: unknown;
}

/** A function of the app that programs can call. */
export interface BindingDefinition {
  description: string;
  inputSchema: JsonSchema | StandardSchema;
  // biome-ignore lint/suspicious/noExplicitAny: the schema says what the input is
  handler(input: any, context: BindingContext): unknown;
  timeoutMs?: number | undefined;
  examples?: readonly HostToolExample[] | undefined;
  commandAliases?: readonly string[] | undefined;
}

/** Options of the calls that run a program. */
export interface NodeRuntimeExecOptions {
  env?: Readonly<Record<string, string>> | undefined;
  cwd?: string | undefined;
  stdin?: string | Uint8Array | undefined;
  /** Wall-clock limit in milliseconds. */
  timeout?: number | undefined;
  /** Ends the program when the signal aborts. The call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  onStdout?: ((chunk: Uint8Array) => void) | undefined;
  onStderr?: ((chunk: Uint8Array) => void) | undefined;
}

/** Options of `spawn()` and `spawnCommand()`. */
export interface NodeRuntimeSpawnOptions extends NodeRuntimeExecOptions {}

/** The result of a program. */
export interface NodeRuntimeExecResult {
  stdout: string;
  stderr: string;
  exitCode: number;
  /** The reason why the sandbox ended the program. secure-exec has no such field. */
  error?: Failure;
  /** Whether not all output was captured. secure-exec has no such fields. */
  stdoutTruncated?: boolean;
  stderrTruncated?: boolean;
}

/** The result of a program that returned a value with `__return(value)`. */
export interface NodeRuntimeRunResult<T = unknown> extends NodeRuntimeExecResult {
  value?: T;
}

/** A running program. */
export interface NodeRuntimeProcess {
  /** The pid. Throws `ERR_NOT_SUPPORTED` until a program of `spawnCommand()` has started. */
  readonly pid: number;
  /** Writes to stdin. secure-exec returns nothing: a caller may ignore the promise. */
  writeStdin(data: string | Uint8Array): Promise<void>;
  /** Ends stdin. A caller may ignore the promise. */
  closeStdin(): Promise<void>;
  /** Sends a signal. A caller may ignore the promise. */
  kill(signal?: NodeJS.Signals | number): Promise<void>;
  /** Resolves with the exit code at the end of the program. */
  wait(): Promise<number>;
  /** The exit code, or `null` while the program runs. */
  readonly exitCode: number | null;
}

/** A request to a server in the runtime. */
export interface NodeRuntimeFetchInput {
  /** @default 'GET' */
  method?: string | undefined;
  path: string;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | Uint8Array | undefined;
}

/** A response of a server in the runtime. */
export interface NodeRuntimeFetchResponse {
  status: number;
  statusText: string;
  /** Headers by lower-case names. Several values of one name are joined with a comma. */
  headers: Record<string, string>;
  body: string;
}

/** Names a listener. */
export interface NodeRuntimeListenerQuery {
  port?: number | undefined;
  host?: string | undefined;
  path?: string | undefined;
}

/** A listener. */
export interface NodeRuntimeListener {
  /** The pid of the process that listens, as text. */
  processId: string;
  host?: string;
  port?: number;
  path?: string;
}

/** Options of `waitForListener()`. */
export interface NodeRuntimeWaitForListenerOptions {
  /** @default 10_000 */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Has no effect: the wait uses events. */
  pollIntervalMs?: number | undefined;
}

/** Options of `createResidentRunner()`: none. */
export type NodeRuntimeResidentRunnerOptions = Record<never, never>;

/** Options of `exec()` of a resident runner. */
export interface NodeRuntimeResidentRunnerExecOptions {
  timeout?: number | undefined;
}

/** A process that evaluates snippets with one global state. */
export interface NodeRuntimeResidentRunner extends AsyncDisposable {
  exec(code: string, options?: NodeRuntimeResidentRunnerExecOptions): Promise<NodeRuntimeExecResult>;
  dispose(): Promise<void>;
}

/** The resources in use. The SDK's own call returns more. */
export interface NodeRuntimeResourceSnapshot {
  runningProcesses: number;
  openFds: number;
  pipes: number;
  sockets: number;
  socketListeners: number;
}
