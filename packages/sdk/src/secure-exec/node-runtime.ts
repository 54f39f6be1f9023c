// The class of secure-exec 0.3 on top of the SDK's runtime. Each method converts its arguments and
// its result. Next: `class-options.ts`, the options of `create()`.

import { asyncDispose } from '../async-dispose.js';
import { type ExecResult, type GuestListener, type ResidentRunner, NodeRuntime as Runtime } from '../index.js';
import { type NodeRuntimeCreateOptions, ownOptions } from './class-options.js';
import { withToolCalls } from './guest-code.js';
import { StartingProcess } from './guest-process.js';
import { joinHeaders } from './headers.js';
import type * as Types from './types.js';

/**
 * One sandbox for Node programs, with the calls of secure-exec 0.3.
 *
 * @example
 * const runtime = await NodeRuntime.create();
 * const { stdout, exitCode } = await runtime.exec('console.log(1 + 1)');
 * await runtime.dispose();
 */
export class NodeRuntime implements AsyncDisposable {
  /** The runtime of the SDK, for snapshots, clones and all other calls of `coldframe`. */
  readonly coldframe: Runtime;

  private constructor(runtime: Runtime) {
    this.coldframe = runtime;
  }

  /** Creates a runtime. @throws as `NodeRuntime.create()` of `coldframe` */
  static async create(options: NodeRuntimeCreateOptions = {}): Promise<NodeRuntime> {
    return new NodeRuntime(await Runtime.create(ownOptions(options)));
  }

  /** Runs `code`, an ES module, to its end. */
  async exec(code: string, options?: Types.NodeRuntimeExecOptions): Promise<Types.NodeRuntimeExecResult> {
    return sharedFields(await this.coldframe.exec(programOf(code), options));
  }

  /** Runs `code`. The program can return a value with `__return(value)`, through JSON. */
  async run<T = unknown>(code: string, options?: Types.NodeRuntimeExecOptions): Promise<Types.NodeRuntimeRunResult<T>> {
    return sharedFields(await this.coldframe.run<T>(programOf(code), options));
  }

  /** Runs a command of the guest to its end. */
  async execCommand(
    command: string,
    args?: readonly string[],
    options?: Types.NodeRuntimeExecOptions,
  ): Promise<Types.NodeRuntimeExecResult> {
    return sharedFields(await this.coldframe.execCommand(command, args, options));
  }

  /** Starts `code` and returns a handle. */
  spawn(code: string, options?: Types.NodeRuntimeSpawnOptions): Promise<Types.NodeRuntimeProcess> {
    return new StartingProcess(this.coldframe.spawn(programOf(code), options)).started();
  }

  /** Starts a command and returns a handle at once. `wait()` rejects if the start fails. */
  spawnCommand(command: string, args?: readonly string[], options?: Types.NodeRuntimeSpawnOptions): Types.NodeRuntimeProcess {
    return new StartingProcess(this.coldframe.spawnCommand(command, args, options));
  }

  /** Sends a request to a server in the runtime. */
  async fetch(port: number, input?: Types.NodeRuntimeFetchInput): Promise<Types.NodeRuntimeFetchResponse> {
    const { status, statusText, headers, body } = await this.coldframe.fetch(port, input);
    return { status, statusText, headers: joinHeaders(headers), body };
  }

  /**
   * Returns the present listener, or `null`. secure-exec returns the listener synchronously. This
   * method waits for a reply of the sidecar.
   */
  async findListener(query: Types.NodeRuntimeListenerQuery): Promise<Types.NodeRuntimeListener | null> {
    const listener = await this.coldframe.findListener(query);
    return listener === undefined ? null : listenerOf(listener);
  }

  /** Waits until a process listens. */
  async waitForListener(
    query: Types.NodeRuntimeListenerQuery,
    options: Types.NodeRuntimeWaitForListenerOptions = {},
  ): Promise<Types.NodeRuntimeListener> {
    const { pollIntervalMs: _, ...same } = options;
    return listenerOf(await this.coldframe.waitForListener(query, same));
  }

  /** Registers functions of the app that programs can call. */
  registerBindings(bindings: Readonly<Record<string, Types.BindingDefinition>>): Promise<void> {
    return this.coldframe.registerBindings(bindings);
  }

  /** `registerBindings()`, by its name in earlier releases. */
  registerTools(tools: Readonly<Record<string, Types.BindingDefinition>>): Promise<void> {
    return this.coldframe.registerBindings(tools);
  }

  /** Replaces a file. Makes missing parent directories. */
  writeFile(path: string, content: string | Uint8Array): Promise<void> {
    return this.coldframe.writeFile(path, content);
  }

  /** Returns all bytes of a file. */
  readFile(path: string): Promise<Uint8Array> {
    return this.coldframe.readFile(path);
  }

  /** Returns the names in a directory. */
  readDir(path: string): Promise<string[]> {
    return this.coldframe.readDir(path);
  }

  /** Returns the names in a directory with their types. */
  readDirWithTypes(path: string): Promise<{ name: string; isDirectory: boolean; isSymbolicLink: boolean }[]> {
    return this.coldframe.readDirWithTypes(path);
  }

  /** Returns the resources in use. */
  async getResourceSnapshot(): Promise<Types.NodeRuntimeResourceSnapshot> {
    const [resources, listeners] = await Promise.all([this.coldframe.getResourceSnapshot(), this.coldframe.listeners()]);
    const { processes, descriptors, pipes, sockets } = resources;
    return { runningProcesses: processes, openFds: descriptors, pipes, sockets, socketListeners: listeners.length };
  }

  /** Starts a process that evaluates snippets with one global state. */
  async createResidentRunner(options?: Types.NodeRuntimeResidentRunnerOptions): Promise<Types.NodeRuntimeResidentRunner> {
    return new Runner(await this.coldframe.createResidentRunner(options));
  }

  /** Ends the runtime and its programs. */
  dispose(): Promise<void> {
    return this.coldframe.dispose();
  }

  /** Calls `dispose()`, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

class Runner implements Types.NodeRuntimeResidentRunner {
  readonly #runner: ResidentRunner;

  constructor(runner: ResidentRunner) {
    this.#runner = runner;
  }

  async exec(code: string, options?: Types.NodeRuntimeResidentRunnerExecOptions): Promise<Types.NodeRuntimeExecResult> {
    return sharedFields(await this.#runner.exec(programOf(code), options));
  }

  dispose(): Promise<void> {
    return this.#runner.dispose();
  }

  [asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

// The SDK checks the type of the code.
const programOf = (code: string): string => (typeof code === 'string' ? withToolCalls(code) : code);

const listenerOf = ({ processId, ...place }: GuestListener): Types.NodeRuntimeListener => ({
  ...place,
  processId: String(processId),
});

// The results of secure-exec have no durations and no signal.
function sharedFields<R extends Types.NodeRuntimeExecResult>(result: R & Pick<ExecResult, 'timings' | 'signal'>): R {
  const { timings: _, signal: __, ...fields } = result;
  return fields as unknown as R;
}
