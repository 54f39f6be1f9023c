// Starts the programs of one runtime, and lists the runtime's processes.
//
// The engine runs code as an ES module, which is the fast path. TypeScript, and code with the
// option `--input-type`, is run by Node's own `--eval` in the guest.

import type { Outcome } from '../channel/outcome.js';
import { isColdframeError } from '../errors/error.js';
import { noProcess } from '../errors/make.js';
import type { BootTimingListener } from '../options/boot-timing.js';
import { checkArgument, checkOptions } from '../options/check.js';
import { idsOf } from '../options/owner.js';
import {
  type AttachOptions,
  COMMAND_ARGUMENTS,
  type CommandOptions,
  PID,
  PROGRAM,
  type RunOptions,
  type SignalName,
} from '../options/programs.js';
import type { OpenTerminalOptions } from '../options/terminals.js';
import { assertSameLength } from '../protocol/check.js';
import type { Pid, ProcessStart } from '../protocol/generated/messages.js';
import { reportGuestRun, reportGuestStart } from '../sidecar/boot-timing.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';
import { evaluate } from './evaluation.js';
import { GuestProcess, type ProcessContext } from './guest-process.js';
import { explained } from './limit-line.js';
import { PidRegistry } from './pid-registry.js';
import { ProgramEnds } from './program-ends.js';
import { ExecResult, finished, RunResult } from './result.js';
import { SIGNAL, signalNumber } from './signals.js';
import { Terminal } from './terminal.js';
import { assertWorkingDirectory } from './working-directory.js';

const INPUT_TYPE = '--input-type=';
/** The arguments of the default command of a terminal: an interactive login shell. */
const LOGIN_SHELL = ['-il'];
const CALL_NAMES = { exec: 'exec()', run: 'run()', file: 'execFile()' } as const;

/** A process of a runtime: a program, a resident runner, or a child of either. */
export interface ProcessEntry {
  /** The pid in the runtime. */
  readonly pid: number;
  /** The parent's pid. 1 if the app started the process, or if the parent has ended. */
  readonly ppid: number;
  /** The id of the process group. */
  readonly group: number;
  /** The command with its arguments. */
  readonly command: string;
  /**
   * Returns a handle as `runtime.attach()` does. After a rollback, entries of earlier lists are
   * invalid.
   *
   * @throws as `runtime.attach()`
   */
  attach(options?: AttachOptions): Promise<GuestProcess>;
  /**
   * Sends a signal by name or number. Returns whether the process existed. After a rollback,
   * returns `false` for entries of earlier lists.
   *
   * @throws `ERR_INVALID_OPTION`; otherwise as `exec()` for runtime and sidecar
   */
  kill(signal?: SignalName | number): Promise<boolean>;
}

/** Starts programs in one runtime, and lists the runtime's processes. */
export class RuntimePrograms {
  /** The handles of programs, by their pids. */
  readonly pids = new PidRegistry();
  /** The ends of the programs that this handle started. */
  readonly ends = new ProgramEnds(this.pids);
  readonly #access: RuntimeAccess;
  readonly #onBootTiming: BootTimingListener | undefined;

  constructor(access: RuntimeAccess, onBootTiming: BootTimingListener | undefined) {
    this.#access = access;
    this.#onBootTiming = onBootTiming;
  }

  async exec(code: string, options: RunOptions | undefined): Promise<ExecResult> {
    checkOptions('exec()', options);
    checkArgument('exec()', 'code', PROGRAM, code);
    return finished(new ExecResult(explained(await this.#run('exec', code, options), options)), options);
  }

  async run<T>(code: string, options: RunOptions | undefined): Promise<RunResult<T>> {
    checkOptions('run()', options);
    checkArgument('run()', 'code', PROGRAM, code);
    return finished(new RunResult<T>(explained(await this.#run('run', code, options), options)), options);
  }

  async execFile(path: string, options: RunOptions | undefined): Promise<ExecResult> {
    checkOptions('execFile()', options);
    checkArgument('execFile()', 'path', PROGRAM, path);
    return finished(new ExecResult(explained(await this.#run('file', path, options), options)), options);
  }

  async execCommand(command: string, args: readonly string[], options: CommandOptions): Promise<ExecResult> {
    const program = this.#command('execCommand()', command, args, options);
    if (program.cwd !== undefined) await assertWorkingDirectory(this.#access, 'execCommand()', program.cwd);
    const { connection } = this.#access;
    this.ends.started();
    const outcome = await evaluate(connection, options, (id, stream, onOutput) =>
      connection.start(id, { ...program, stream }, onOutput),
    );
    this.ends.ended(outcome);
    return finished(new ExecResult(explained(outcome, options)), options);
  }

  async spawn(code: string, options: RunOptions): Promise<GuestProcess> {
    checkOptions('spawn()', options);
    checkArgument('spawn()', 'code', PROGRAM, code);
    this.#access.assertUsable();
    const { args, env, cwd, limits, stdin, timeout: timeoutMs } = options;
    const [user, keepOrphans] = [idsOf(options.user), keeps(options)];
    if (cwd !== undefined) await assertWorkingDirectory(this.#access, 'spawn()', cwd);
    const { text, execArgv } = sourceOf('exec', code, options);
    const { runtime } = this.#access;
    const program = {
      runtime,
      mode: 'exec',
      code: text,
      language: sentLanguage('exec', code, options),
      args,
      execArgv,
      env,
      cwd,
      limits,
      timeoutMs,
      user,
      keepOrphans,
    } as const;
    this.ends.started();
    return GuestProcess.start(this.#context, { ...program, stdin: bytesOf(stdin) }, options);
  }

  async spawnCommand(command: string, args: readonly string[], options: CommandOptions): Promise<GuestProcess> {
    const program = this.#command('spawnCommand()', command, args, options);
    if (program.cwd !== undefined) await assertWorkingDirectory(this.#access, 'spawnCommand()', program.cwd);
    this.ends.started();
    return GuestProcess.start(this.#context, program, options);
  }

  async openTerminal(options: OpenTerminalOptions): Promise<Terminal> {
    checkOptions('openTerminal()', options);
    this.#access.assertUsable();
    const { command = 'sh', cols = 80, rows = 24, term = 'xterm-256color', onData } = options;
    const args = options.args ?? (options.command === undefined ? LOGIN_SHELL : []);
    const { env, cwd, limits, user, timeout: timeoutMs, signal } = options;
    if (cwd !== undefined) await assertWorkingDirectory(this.#access, 'openTerminal()', cwd);
    const { runtime } = this.#access;
    const size = { columns: cols, rows };
    const place = { env: { TERM: term, ...env }, cwd, limits, user: idsOf(user), timeoutMs, terminal: size };
    this.ends.started();
    const program: ProcessStart = { runtime, mode: 'command', code: command, args, ...place };
    return new Terminal(await GuestProcess.start(this.#context, program, { signal, onStdout: onData }));
  }

  async list(): Promise<ProcessEntry[]> {
    this.#access.assertUsable();
    const { connection, runtime } = this.#access;
    // The generation is read before the request, because the reply may arrive after a rollback.
    const { generation } = this.pids;
    const { pids, ppids, groups, commands } = await connection.request('process.list', { runtime });
    assertSameLength(pids, ppids, groups, commands);
    return pids.map((pid, at) => {
      const attach: ProcessEntry['attach'] = async (options = {}) => {
        checkOptions('attach()', options);
        if (this.pids.generation !== generation) throw noProcess(pid);
        return GuestProcess.attach(this.#context, pid, options);
      };
      const kill: ProcessEntry['kill'] = async (signal = 'SIGTERM') => {
        checkArgument('kill()', 'signal', SIGNAL, signal);
        return this.pids.generation === generation && this.#signal(pid, signal);
      };
      const [ppid, group, command] = [ppids[at] as number, groups[at] as number, commands[at] as string];
      // The functions are not enumerable, because `structuredClone()` refuses functions.
      const hidden = { enumerable: false };
      return Object.defineProperties({ pid, ppid, group, command, attach, kill }, { attach: hidden, kill: hidden });
    });
  }

  async attach(pid: number, options: AttachOptions): Promise<GuestProcess> {
    checkArgument('attach()', 'pid', PID, pid);
    checkOptions('attach()', options);
    this.#access.assertUsable();
    return GuestProcess.attach(this.#context, pid as Pid, options);
  }

  async #signal(pid: Pid, signal: SignalName | number): Promise<boolean> {
    const { connection, runtime } = this.#access;
    try {
      await connection.request('process.signal', { runtime, pid, signal: signalNumber(signal) as number });
      return true;
    } catch (error) {
      if (isColdframeError(error, 'ESRCH')) return false;
      throw error;
    }
  }

  get #context(): ProcessContext {
    const { connection, runtime } = this.#access;
    return { connection, runtime, pids: this.pids, ends: this.ends };
  }

  async #run(mode: 'exec' | 'run' | 'file', code: string, options: RunOptions | undefined): Promise<Outcome> {
    this.#access.assertUsable();
    const cwd = options?.cwd;
    if (cwd !== undefined) await assertWorkingDirectory(this.#access, CALL_NAMES[mode], cwd);
    this.ends.started();
    const outcome = await this.#begin(mode, code, options);
    this.ends.ended(outcome);
    if (this.#onBootTiming !== undefined) {
      reportGuestStart(this.#onBootTiming, outcome.timings);
      reportGuestRun(this.#onBootTiming, outcome.timings);
    }
    return outcome;
  }

  #begin(mode: 'exec' | 'run' | 'file', code: string, options: RunOptions | undefined): Outcome | Promise<Outcome> {
    const { connection, runtime } = this.#access;
    const language = sentLanguage(mode, code, options);
    if (options === undefined) return connection.start(connection.nextId(), { runtime, mode, code, language });
    const { args, env, cwd, limits, timeout: timeoutMs } = options;
    const { text, execArgv } = sourceOf(mode, code, options);
    const [stdin, user, keepOrphans] = [bytesOf(options.stdin), idsOf(options.user), keeps(options)];
    const place = { env, cwd, limits, stdin, timeoutMs, user, keepOrphans };
    const program = { runtime, mode, code: text, language, args, execArgv, ...place };
    return evaluate(connection, options, (id, stream, onOutput) => connection.start(id, { ...program, stream }, onOutput));
  }

  #command(
    call: 'execCommand()' | 'spawnCommand()',
    command: string,
    args: readonly string[],
    options: CommandOptions,
  ): ProcessStart {
    checkOptions(call, options);
    checkArgument(call, 'command', PROGRAM, command);
    checkArgument(call, 'args', COMMAND_ARGUMENTS, args);
    this.#access.assertUsable();
    const { env, cwd, limits, stdin, timeout: timeoutMs } = options;
    const { runtime } = this.#access;
    const [user, keepOrphans] = [idsOf(options.user), keeps(options)];
    return {
      runtime,
      mode: 'command',
      code: command,
      args,
      env,
      cwd,
      limits,
      stdin: bytesOf(stdin),
      timeoutMs,
      user,
      keepOrphans,
    };
  }
}

/** The extension of files that `execFile()` runs as Python. */
const PYTHON_FILE = /\.pyw?$/;

/** Returns the language of a program for the sidecar. `undefined` means JavaScript. */
function sentLanguage(mode: 'exec' | 'run' | 'file', code: string, options: RunOptions | undefined): 'python' | undefined {
  const language = options?.language ?? (mode === 'file' && PYTHON_FILE.test(code) ? 'python' : undefined);
  return language === 'python' ? language : undefined;
}

interface ProgramSource {
  text: string;
  execArgv: readonly string[] | undefined;
}

function sourceOf(mode: 'exec' | 'run' | 'file', code: string, { execArgv, language }: RunOptions): ProgramSource {
  const isPlain =
    language === 'python' || (language !== 'typescript' && !execArgv?.some((option) => option.startsWith(INPUT_TYPE)));
  if (mode === 'file' || isPlain) return { text: code, execArgv };
  const type = language === 'typescript' ? [`${INPUT_TYPE}module-typescript`] : [];
  return { text: '', execArgv: [...(execArgv ?? []), ...type, `--eval=${code}`] };
}

/** Returns whether the processes that a program leaves behind continue. */
const keeps = ({ orphans }: CommandOptions): true | undefined => (orphans === 'keep' ? true : undefined);

const bytesOf = (input: string | Uint8Array | undefined): Uint8Array | undefined =>
  typeof input === 'string' ? Buffer.from(input) : input;
