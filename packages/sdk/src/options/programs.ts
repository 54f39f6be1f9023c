// Options of the calls that run programs: `exec()`, `spawn()`, `execCommand()`, resident runners.

import { PROGRAM_LIMITS, type ProgramLimits } from './limits.js';
import { OWNER, type Owner } from './owner.js';
import {
  ARGUMENTS,
  CALLBACK,
  CONTENT,
  CWD,
  ENV,
  FLAG,
  listOf,
  mapOf,
  matching,
  oneOf,
  PROGRAM_TEXT,
  SIGNAL,
  TEXT,
  TIMEOUT_MS,
  whole,
} from './rule.js';
import { known, type OptionTable } from './table.js';

/** The pattern of a path without `.`, `..`, empty names and NUL, relative to a directory. */
const RELATIVE = /^(?!\.{1,2}(?:\/|$))[^/\0]+(?:\/(?!\.{1,2}(?:\/|$))[^/\0]+)*$/s;
const RELATIVE_PATH = "a file such as 'lib/add.js'";

/** Environment variables. A name has no `=`. Names and values have no NUL. */
export type Env = Readonly<Record<string, string>>;

/** Receives one chunk of output. The handler may keep the bytes. */
export type OutputHandler = (chunk: Uint8Array) => unknown;

/** A signal by its name on Linux. */
export type SignalName = NodeJS.Signals;

/** Options of every call that evaluates code. */
export interface EvaluationOptions {
  /** Wall-clock limit in milliseconds, a whole number from 1. @default `limits.wallMs` */
  timeout?: number | undefined;
  /**
   * Ends the program or the evaluation when the signal aborts. The call then rejects with the
   * signal's reason.
   */
  signal?: AbortSignal | undefined;
  /**
   * Receives stdout while the program runs. If the handler returns a promise, the next chunk waits
   * for the promise. The program's writes block once 256 KiB wait. An error that the handler throws
   * ends the program and rejects the call.
   */
  onStdout?: OutputHandler | undefined;
  /** Receives stderr as `onStdout` receives stdout. */
  onStderr?: OutputHandler | undefined;
  /**
   * Whether `stderr` of the result ends with a line that names the limit, if a limit ended the
   * program or the evaluation. `onStderr` does not receive the line.
   * @default false
   */
  explainLimits?: boolean | undefined;
  /**
   * Whether the call rejects with `ERR_PROGRAM_FAILED` if the exit code is not 0 or the sandbox
   * ended the program. The error has the result. Of a spawned program, `result` rejects.
   * @default false
   */
  throwOnError?: boolean | undefined;
}

/** Environment and working directory of a program. */
interface ProgramPlace {
  /** Variables that are added to the runtime's environment and replace its values. */
  env?: Env | undefined;
  /**
   * An absolute guest path. The directory must exist. @default the runtime's working directory
   */
  cwd?: string | undefined;
}

/** Environment, working directory, limits and user of a new process. */
interface ProcessPlace extends ProgramPlace {
  /**
   * Limits of this program, below the limits of the runtime: `memoryBytes`, `cpuMs`, `outputBytes`
   * and `resultBytes`. `timeout` limits the wall-clock time.
   * @default the limits of the runtime
   */
  limits?: ProgramLimits | undefined;
  /**
   * The user of the program inside the runtime. With `'root'`, the variables `HOME`, `LOGNAME` and
   * `USER` have the values of `root`, unless `env` has them. The permissions of the runtime apply
   * to every user alike.
   * @default 'user'
   */
  user?: Owner | undefined;
}

/** The processes that a program leaves behind. */
interface LeftBehind {
  /**
   * The other processes of the program's session at the end of the program. `'kill'`: end with the
   * program. `'keep'`: continue, and the call also waits until no process has the program's stdout
   * or stderr open. `timeout` and `signal` end all these processes until the call has resolved.
   * @default 'kill'
   */
  orphans?: 'kill' | 'keep' | undefined;
}

/** The languages of programs. */
export type ProgramLanguage = 'javascript' | 'typescript' | 'python';

/** Options of `runtime.exec()`, `runtime.execFile()`, `runtime.run()` and `runtime.spawn()`. */
export interface RunOptions extends ProcessPlace, EvaluationOptions, LeftBehind {
  /**
   * The entries of `process.argv` or `sys.argv` after the first entry, as with `node -e`. In
   * `execFile()`, the entries follow the path of the file.
   * @default []
   */
  args?: readonly string[] | undefined;
  /**
   * Options of `node` itself, such as `--no-warnings` or `--conditions=development`, or of
   * `python3`, such as `-O`.
   * @default []
   */
  execArgv?: readonly string[] | undefined;
  /**
   * The language of `code`. Types of TypeScript are removed before the program runs, as in Node 24.
   * Syntax that needs generated code, such as enums, is refused. `'python'` needs the package
   * `@coldframe/python`. `execFile()` derives the language from the file's extension, unless this
   * option names the language.
   * @default 'javascript'
   */
  language?: ProgramLanguage | undefined;
  /**
   * The content of the program's stdin. `spawn()` keeps stdin open after this content. @default
   * nothing
   */
  stdin?: string | Uint8Array | undefined;
}

/** Options of `runtime.execFiles()`. */
export interface ExecFilesOptions extends RunOptions {
  /** The file that runs. @default the first file */
  entry?: string | undefined;
}

/** Options of `runtime.execCommand()` and `runtime.spawnCommand()`. */
export interface CommandOptions extends ProcessPlace, EvaluationOptions, LeftBehind {
  /**
   * The content of the command's stdin. `spawnCommand()` keeps stdin open after this content.
   * @default nothing
   */
  stdin?: string | Uint8Array | undefined;
}

/** Options of `runtime.createResidentRunner()`. */
export interface ResidentRunnerOptions extends ProcessPlace {
  /**
   * The language of the snippets. A runner of `'bash'` is a shell that keeps its variables,
   * functions, options, aliases and working directory. `'python'` needs the package
   * `@coldframe/python`.
   * @default 'javascript'
   */
  language?: 'javascript' | 'bash' | 'python' | undefined;
}

/**
 * Options of `runner.exec()` and `runner.run()`. `env` and `cwd` apply to this evaluation. After
 * the evaluation, the runner has its own variables and working directory again.
 */
export interface ResidentExecOptions extends ProgramPlace, EvaluationOptions {
  /**
   * The end of the evaluation. `'idle'` waits for the snippet and for the work that the snippet
   * started. `'value'` only waits for the snippet: its servers and timers continue.
   * @default 'idle'
   */
  until?: 'value' | 'idle' | undefined;
}

/** Options of `runner.cell()`. */
export interface CellOptions extends Omit<ResidentExecOptions, 'until'> {
  /** The end of the evaluation, as in `exec()`. @default 'value' */
  until?: 'value' | 'idle' | undefined;
  /**
   * The language of the cell. Types of TypeScript are removed. A runner of the language `'bash'` or
   * `'python'` ignores this option. A runner of `'javascript'` reads a cell of `'python'` as
   * JavaScript.
   * @default 'javascript'
   */
  language?: 'javascript' | 'typescript' | 'python' | undefined;
}

/** Options of `runtime.attach()`, and of `attach()` of an entry of `runtime.processes()`. */
export interface AttachOptions extends Pick<EvaluationOptions, 'onStdout' | 'onStderr' | 'signal'> {
  /**
   * Called with the number of bytes of output that the handle has lost, because 256 KiB were
   * unread. The next output follows the gap.
   */
  onLost?: ((bytes: number) => unknown) | undefined;
}

const EVALUATION: OptionTable<EvaluationOptions> = {
  timeout: known(TIMEOUT_MS, ['timeoutMs', 'timeoutSeconds', 'maxDuration', 'deadline'], ', in milliseconds'),
  signal: known(SIGNAL, ['abortSignal']),
  onStdout: known(CALLBACK, ['stdout'], ', a function'),
  onStderr: known(CALLBACK, ['stderr'], ', a function'),
  explainLimits: known(FLAG, ['timeoutMessage', 'explainTimeout']),
  throwOnError: known(FLAG, ['reject', 'throws', 'check']),
};

/** Environment and working directory. */
export const PLACE: OptionTable<ProgramPlace> = {
  env: known(ENV, ['environment', 'envs', 'envVars']),
  cwd: known(CWD, ['workingDirectory', 'workdir', 'workDir', 'dir']),
};

const PROCESS: OptionTable<ProcessPlace> = { ...PLACE, limits: PROGRAM_LIMITS, user: known(OWNER, ['uid', 'username', 'runAs']) };

const STDIN = known(CONTENT, ['input']);

const LEFT_BEHIND: OptionTable<LeftBehind> = {
  orphans: known(oneOf(['kill', 'keep'], "'kill' or 'keep'"), ['children', 'keepSession', 'detached'], ", 'kill' or 'keep'"),
};

/** The option table of programs that are given as code or as a file. */
export const RUN: OptionTable<RunOptions> = {
  ...EVALUATION,
  ...PROCESS,
  ...LEFT_BEHIND,
  args: known(ARGUMENTS, ['argv', 'arguments']),
  execArgv: known(ARGUMENTS, ['nodeArgs']),
  language: oneOf(['javascript', 'typescript', 'python'], "'javascript', 'typescript' or 'python'"),
  stdin: STDIN,
};

/** The option table of files that run together. */
export const EXEC_FILES: OptionTable<ExecFilesOptions> = {
  ...RUN,
  entry: known(matching(RELATIVE, `the path of ${RELATIVE_PATH}`), ['main', 'entryPoint', 'entrypoint']),
};

/** The argument `files` of `execFiles()`. */
export const PROGRAM_FILES = mapOf(RELATIVE, CONTENT, `a map of the path of ${RELATIVE_PATH} to text or a Uint8Array`);

/** The option table of commands. */
export const COMMAND: OptionTable<CommandOptions> = { ...EVALUATION, ...PROCESS, ...LEFT_BEHIND, stdin: STDIN };

/** The option table of a new resident runner. */
export const RESIDENT_RUNNER: OptionTable<ResidentRunnerOptions> = {
  ...PROCESS,
  language: oneOf(['javascript', 'bash', 'python'], "'javascript', 'bash' or 'python'"),
};

/** The option table of an evaluation in a resident runner. */
export const RESIDENT_EXEC: OptionTable<ResidentExecOptions> = {
  ...EVALUATION,
  ...PLACE,
  until: known(oneOf(['value', 'idle'], "'value' or 'idle'"), ['waitFor']),
};

/** The option table of a cell. */
export const CELL: OptionTable<CellOptions> = {
  ...RESIDENT_EXEC,
  language: oneOf(['javascript', 'typescript', 'python'], "'javascript', 'typescript' or 'python'"),
};

/** The option table of a further handle for a program. */
export const ATTACH: OptionTable<AttachOptions> = {
  onStdout: EVALUATION.onStdout,
  onStderr: EVALUATION.onStderr,
  signal: EVALUATION.signal,
  onLost: known(CALLBACK, ['onDrop'], ', a function'),
};

/** The argument `code`, `path` or `command` of a call that runs a program. */
export const PROGRAM = TEXT;
/** The argument `args` of a call that runs a command. */
export const COMMAND_ARGUMENTS = listOf(PROGRAM_TEXT, 'a list of text');
/** The argument `pid` of `attach()`. */
export const PID = whole(2, 4_194_304, 'the pid of a process');
/** The argument of `writeStdin()`. */
export const STDIN_DATA = CONTENT;
