// The programs that clients started in one sandbox. Any number of readers receive their output. The
// end of a program is kept for late readers.
//
// A program's output is read from its start on. The newest output that no client has read is kept
// for the next client (`backlog.ts`). Older output is dropped, so that no program waits for a
// reader. A client that reads slowly makes the program wait, as a full pipe does.

import { type ExecResult, type GuestProcess, isColdframeError, type NodeRuntime, type Terminal } from 'coldframe';
import type { Logs } from '../sandboxes/logs.js';
import { Backlog, type Output } from './backlog.js';
import type { User } from './user.js';

/** Milliseconds for which the end of a program is kept. */
const KEPT_MS = 30_000;

/** A command as the client gave it. */
export interface ProgramConfig {
  cmd: string;
  args: string[];
  envs: Record<string, string>;
  cwd: string | undefined;
}

/** The wish to start a program. */
export interface ProgramStart extends ProgramConfig {
  tag: string | undefined;
  /** Whether clients may write to stdin. */
  hasStdin: boolean;
  /** Environment below the program's own: the user's and the sandbox's. */
  baseEnv: Record<string, string>;
  user: User['name'];
  /** The size of the terminal that the program runs on, or `undefined` without a terminal. */
  terminal: TerminalSize | undefined;
}

/** The size of a terminal in characters. */
export interface TerminalSize {
  cols: number;
  rows: number;
}

/** The source of output. A program on a terminal has the output of the terminal only. */
export type OutputSource = 'stdout' | 'stderr' | 'pty';

/** The end of a program. */
export interface ProgramEnd {
  /** The exit code, or -1 after a signal. */
  exitCode: number;
  /** Whether the program exited by itself. */
  exited: boolean;
  /** A text such as `exit status 0` or `signal: killed`. */
  status: string;
}

/** Receives the output and the end of a program. A promise delays the next output. */
export interface Reader {
  output(source: OutputSource, bytes: Uint8Array): Promise<void> | undefined;
  end(end: ProgramEnd): void;
}

/** A program that a client started. */
export class Program {
  readonly config: ProgramConfig;
  readonly tag: string | undefined;
  readonly hasStdin: boolean;
  /** Whether the program runs on a terminal. */
  readonly isOnTerminal: boolean;
  /** The end, when the program has ended. */
  ended: ProgramEnd | undefined;
  #handle: Handle | undefined;
  #deadline: NodeJS.Timeout | undefined;
  readonly #readers = new Set<Reader>();
  #observer: Reader | undefined;
  readonly #backlog = new Backlog();

  constructor({ cmd, args, envs, cwd, tag, hasStdin }: Known, isOnTerminal: boolean) {
    this.config = { cmd, args, envs, cwd };
    this.tag = tag;
    this.hasStdin = hasStdin;
    this.isOnTerminal = isOnTerminal;
  }

  /** The pid in the sandbox. */
  get pid(): number {
    return this.#live.pid;
  }

  /** The pid, if the program has started. */
  get knownPid(): number | undefined {
    return this.#handle?.pid;
  }

  /** The handlers of the output, for the options of `spawnCommand()` and `attach()`. */
  get handlers() {
    const pass = (source: OutputSource) => (bytes: Uint8Array) => {
      void this.#observer?.output(source, bytes);
      if (this.#readers.size === 0) this.#backlog.add({ source, bytes });
      const waits = [...this.#readers].map((reader) => reader.output(source, bytes)).filter((wait) => wait !== undefined);
      return waits.length === 0 ? undefined : Promise.all(waits);
    };
    return { onStdout: pass(this.isOnTerminal ? 'pty' : 'stdout'), onStderr: pass('stderr') };
  }

  /** Sets the handle of the started program, and calls `onEnd` after the program's end. */
  follow(handle: Handle, onEnd: () => void): void {
    this.#handle = handle;
    const finish = (end: ProgramEnd): void => {
      this.ended = end;
      clearTimeout(this.#deadline);
      this.#observer?.end(end);
      for (const reader of this.#readers) reader.end(end);
      this.#readers.clear();
      onEnd();
    };
    handle.result.then(
      (result) => finish(endOf(result)),
      () => finish(endOf({ exitCode: 0, signal: 'SIGKILL' })),
    );
  }

  /** Kills the program after `ms` milliseconds, unless the program has ended before. */
  killAfter(ms: number): void {
    if (this.ended !== undefined) return;
    this.#deadline = setTimeout(() => void this.kill('SIGKILL').catch(() => {}), ms);
    this.#deadline.unref();
  }

  /**
   * Adds a reader, which receives the unread output first. A reader of an ended program then
   * receives the end at once.
   */
  read(reader: Reader): void {
    for (const { source, bytes } of this.#backlog.take()) void reader.output(source, bytes);
    if (this.ended !== undefined) reader.end(this.ended);
    else this.#readers.add(reader);
  }

  /** Sets the observer of all output. An observer delays no output and counts as no reader. */
  observe(observer: Reader): void {
    this.#observer = observer;
  }

  /**
   * Removes a reader. The output that the last reader has not taken is kept for the next reader.
   */
  leave(reader: Reader, untaken: readonly Output[]): void {
    this.#readers.delete(reader);
    if (this.#readers.size === 0) for (const output of untaken) this.#backlog.add(output);
  }

  /** Writes to stdin, or types on the terminal. Fails with `EPIPE` if no program reads. */
  async write(bytes: Uint8Array): Promise<void> {
    await this.#live.write(bytes);
  }

  /** Ends stdin. Does nothing for a program on a terminal. */
  async closeStdin(): Promise<void> {
    await this.#live.closeStdin?.();
  }

  /** Sets the size of the terminal. Fails with `ENOTTY` without a terminal. */
  async resize({ cols, rows }: TerminalSize): Promise<void> {
    await this.#live.resize(cols, rows);
  }

  /** Sends a signal. Returns whether the program lived. */
  async kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<boolean> {
    return this.#live.kill(signal);
  }

  get #live(): Handle {
    if (this.#handle === undefined) throw new Error('the program has not started');
    return this.#handle;
  }
}

/** The programs of one sandbox. */
export class Programs {
  readonly #runtime: NodeRuntime;
  readonly #logs: Logs;
  readonly #programs = new Map<number, Program>();

  /** The output of all programs is added to `logs`. */
  constructor(runtime: NodeRuntime, logs: Logs) {
    this.#runtime = runtime;
    this.#logs = logs;
  }

  /** The programs that have not ended. */
  get running(): Program[] {
    return [...this.#programs.values()].filter((program) => program.ended === undefined);
  }

  /**
   * Starts a command, whose output `reader` receives from its start on. Fails with `ENOENT`,
   * `EACCES` or `ENOEXEC` as `spawnCommand()`. For a missing working directory, the error's
   * `syscall` is `chdir`.
   */
  async start(start: ProgramStart, reader: Reader): Promise<Program> {
    const { terminal } = start;
    const program = new Program(start, terminal !== undefined);
    program.read(reader);
    program.observe(this.#logger(program));
    if (terminal === undefined) {
      this.#adopt(program, handleOf(await this.#spawn(program, start)));
      // The request is sent before all later requests about the program. An ended program has no
      // stdin.
      if (!start.hasStdin) program.closeStdin().catch(() => {});
    } else {
      this.#adopt(program, await this.#open(program, start, terminal));
    }
    return program;
  }

  // The processes that a command leaves behind continue, and the output of a command has ended when
  // no process can write more.
  #spawn({ handlers }: Program, { cmd, args, ...start }: ProgramStart): Promise<GuestProcess> {
    return this.#runtime.spawnCommand(cmd, args, { ...handlers, ...placeOf(start), orphans: 'keep', limits: { outputBytes: 0 } });
  }

  #open({ handlers }: Program, { cmd, args, ...start }: ProgramStart, size: TerminalSize): Promise<Terminal> {
    return this.#runtime.openTerminal({ ...placeOf(start), command: cmd, args, ...size, onData: handlers.onStdout });
  }

  /**
   * Attaches to the programs of a restored runtime. `known` are the programs before the snapshot,
   * whose commands and tags the restored programs keep.
   */
  async attach(known: readonly Program[]): Promise<void> {
    const earlier = new Map(known.map((program) => [program.pid, program]));
    for (const entry of await this.#runtime.processes()) {
      if (entry.ppid !== 1 && entry.ppid !== 0) continue;
      const [cmd = '', ...args] = entry.command.split(' ');
      const unknown = { cmd, args, envs: {}, cwd: undefined, tag: undefined, hasStdin: true };
      const before = earlier.get(entry.pid);
      const known = before === undefined ? unknown : { ...before.config, tag: before.tag, hasStdin: before.hasStdin };
      const program = new Program(known, before?.isOnTerminal ?? false);
      try {
        program.observe(this.#logger(program));
        this.#adopt(program, handleOf(await entry.attach(program.handlers)));
      } catch (error) {
        // A runner, or a program that has ended.
        if (!isColdframeError(error)) throw error;
      }
    }
  }

  /** Returns the program with a pid or a tag. Ended programs are found for 30 s. */
  find(selector: { pid: number } | { tag: string }): Program | undefined {
    if ('pid' in selector) return this.#programs.get(selector.pid);
    return [...this.#programs.values()].findLast(({ tag }) => tag === selector.tag);
  }

  #logger(program: Program): Reader {
    // Output can arrive before the pid.
    const fields = (): Record<string, string> => ({ pid: String(program.knownPid ?? ''), cmd: program.config.cmd });
    const lines = { stdout: this.#logs.lines('info', fields), stderr: this.#logs.lines('warn', fields) };
    return {
      output: (source, bytes) => void lines[source === 'stderr' ? 'stderr' : 'stdout'].push(bytes),
      end: ({ status }) => {
        lines.stdout.end();
        lines.stderr.end();
        this.#logs.add('debug', `the program has ended: ${status}`, fields());
      },
    };
  }

  #adopt(program: Program, handle: Handle): void {
    const { pid } = handle;
    this.#programs.set(pid, program);
    program.follow(handle, () => {
      const forget = (): void => {
        if (this.#programs.get(pid) === program) this.#programs.delete(pid);
      };
      setTimeout(forget, KEPT_MS).unref();
    });
  }
}

/** The part of a wish that a program of an earlier snapshot keeps. */
type Known = ProgramConfig & Pick<ProgramStart, 'tag' | 'hasStdin'>;

/** A started program, with or without a terminal. */
interface Handle extends Pick<GuestProcess, 'pid' | 'result' | 'kill' | 'resize'> {
  write(bytes: Uint8Array): Promise<void>;
  closeStdin?(): Promise<void>;
}

function handleOf(process: GuestProcess): Handle {
  return {
    pid: process.pid,
    result: process.result,
    kill: (signal) => process.kill(signal),
    resize: (cols, rows) => process.resize(cols, rows),
    write: (bytes) => process.writeStdin(bytes),
    closeStdin: () => process.closeStdin(),
  };
}

function placeOf({ envs, baseEnv, cwd, user }: Pick<ProgramStart, 'envs' | 'baseEnv' | 'cwd' | 'user'>) {
  return { env: { ...baseEnv, ...envs }, user, ...(cwd === undefined ? {} : { cwd }) };
}

/** The names of signals in the texts that clients know. */
const SIGNALS: Readonly<Record<string, string | undefined>> = {
  SIGHUP: 'hangup',
  SIGINT: 'interrupt',
  SIGQUIT: 'quit',
  SIGILL: 'illegal instruction',
  SIGTRAP: 'trace/breakpoint trap',
  SIGABRT: 'aborted',
  SIGBUS: 'bus error',
  SIGFPE: 'floating point exception',
  SIGKILL: 'killed',
  SIGSEGV: 'segmentation fault',
  SIGPIPE: 'broken pipe',
  SIGALRM: 'alarm clock',
  SIGTERM: 'terminated',
};

// Clients know the texts of Go's `os.ProcessState`.
function endOf({ exitCode, signal }: Pick<ExecResult, 'exitCode' | 'signal'>): ProgramEnd {
  if (signal === null) return { exitCode, exited: true, status: `exit status ${exitCode}` };
  return { exitCode: -1, exited: false, status: `signal: ${SIGNALS[signal] ?? signal.toLowerCase()}` };
}
