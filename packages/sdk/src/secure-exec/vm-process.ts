// `vm.process` of secure-exec 0.2.21: commands and running programs, by their pids.

import { constants } from 'node:os';
import { invalidOption, notSupported } from '../errors/make.js';
import type { ExecResult, GuestProcess, NodeRuntime } from '../index.js';
import { checkOptions } from './check.js';
import {
  EXECUTION_OPTIONS,
  type LanguageExecutionOptions,
  type LanguageSpawnOptions,
  ownExecution,
} from './execution-options.js';
import { type CodeExecutionResult, executionResult, settle } from './results.js';

/** A process of the VM. */
export interface ProcessDescriptor {
  pid: number;
  state: 'running' | 'exited';
  command?: string;
}

/** The end of a program. */
export interface ProcessExit {
  pid: number;
  outcome: 'exited' | 'signalled' | 'timed_out';
  exitCode?: number;
  /** The signal that ends a program with this exit code. */
  signal?: NodeJS.Signals;
}

type CommandOptions = Omit<LanguageExecutionOptions, 'args' | 'contextId'>;

const SIGNALS = new Map(Object.entries(constants.signals).map(([name, number]) => [number + 128, name as NodeJS.Signals]));

/** The processes of a VM. */
export class VmProcess {
  readonly #runtime: NodeRuntime;
  readonly #programs = new Map<number, GuestProcess>();

  constructor(runtime: NodeRuntime) {
    this.#runtime = runtime;
  }

  /** Runs a command line with `sh`. */
  exec(command: string, options?: LanguageExecutionOptions): Promise<CodeExecutionResult> {
    return this.execFile('sh', ['-c', command, ...(options?.args === undefined ? [] : ['sh', ...options.args])], {
      ...options,
      args: undefined,
    } as CommandOptions);
  }

  /** Runs a command. */
  async execFile(command: string, args: readonly string[] = [], options: CommandOptions = {}): Promise<CodeExecutionResult> {
    checkOptions('execFile()', EXECUTION_OPTIONS, options);
    const { args: _, ...own } = ownExecution(options);
    const run = this.#runtime.execCommand(command, args, own);
    return executionResult(await settle(run, options.signal), options.output?.capture);
  }

  /** Starts a command. */
  async spawn(command: string, args: readonly string[] = [], options: LanguageSpawnOptions = {}): Promise<ProcessDescriptor> {
    checkOptions('spawn()', EXECUTION_OPTIONS, options);
    const { args: more = [], ...own } = ownExecution(options);
    return this.keep(await this.#runtime.spawnCommand(command, [...args, ...more], own), command);
  }

  /**
   * Keeps a program, so that the other calls find it by its pid. Its unread output is discarded.
   */
  keep(program: GuestProcess, command: string): ProcessDescriptor {
    const { pid } = program;
    this.#programs.set(pid, program);
    program.result.catch(() => {});
    return { pid, state: 'running', command };
  }

  async list(): Promise<ProcessDescriptor[]> {
    const live = (await this.#runtime.processes()).map(({ pid, command }) => ({ pid, state: 'running' as const, command }));
    const ended = [...this.#programs.keys()].filter((pid) => !live.some((process) => process.pid === pid));
    return [...live, ...ended.map((pid) => ({ pid, state: 'exited' as const }))];
  }

  async get(pid: number): Promise<ProcessDescriptor> {
    const found = (await this.list()).find((process) => process.pid === pid);
    return found ?? this.#unknown('get()', pid);
  }

  /** Waits until a program has ended. */
  async wait(pid: number): Promise<ProcessExit> {
    const { exitCode, error }: ExecResult = await this.#program('wait()', pid).result;
    if (error?.code === 'ERR_TIMEOUT') return { pid, outcome: 'timed_out', exitCode };
    const signal = SIGNALS.get(exitCode);
    return signal === undefined ? { pid, outcome: 'exited', exitCode } : { pid, outcome: 'signalled', exitCode, signal };
  }

  async signal(pid: number, signal: NodeJS.Signals): Promise<void> {
    await this.#program('signal()', pid).kill(signal);
  }

  async kill(pid: number): Promise<void> {
    await this.#program('kill()', pid).kill('SIGKILL');
  }

  async writeStdin(pid: number, data: string | Uint8Array): Promise<void> {
    await this.#program('writeStdin()', pid).writeStdin(data);
  }

  async closeStdin(pid: number): Promise<void> {
    await this.#program('closeStdin()', pid).closeStdin();
  }

  /** Rejects with `ERR_NOT_SUPPORTED`. */
  async resizePty(): Promise<never> {
    throw notSupported('process.resizePty()', 'programs have pipes, and no terminals');
  }

  /** Rejects with `ERR_NOT_SUPPORTED`. */
  async readOutput(): Promise<never> {
    throw notSupported('process.readOutput()', 'use `onStdout` and `onStderr`');
  }

  #program(call: string, pid: number): GuestProcess {
    return this.#programs.get(pid) ?? this.#unknown(call, pid);
  }

  #unknown(call: string, pid: number): never {
    throw invalidOption(call, { option: 'pid', expected: 'the pid of a program of this VM', received: String(pid) });
  }
}
