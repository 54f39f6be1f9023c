// The options of one execution in secure-exec 0.2.21, and their conversion to options of the SDK.

import type { RunOptions } from '../index.js';
import { isPlain, oneOf, type Rule, rule, TIMEOUT_MS } from '../options/rule.js';
import { type OptionTable, objectWith } from '../options/table.js';
import type { JsonValue, OutputCapture } from './results.js';
import { PASSED_ON, without } from './rules.js';

/** Options of programs and commands. */
export interface LanguageExecutionOptions {
  /** The context that runs the code. @default a new process */
  contextId?: string | undefined;
  cwd?: string | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  args?: readonly string[] | undefined;
  stdin?: string | Uint8Array | undefined;
  /** Wall-clock limit in milliseconds. */
  timeoutMs?: number | undefined;
  /** Ends the program when the signal aborts. The outcome is then `'cancelled'`. */
  signal?: AbortSignal | undefined;
  onStdout?: ((chunk: Uint8Array) => void) | undefined;
  onStderr?: ((chunk: Uint8Array) => void) | undefined;
  output?: ExecutionOutputOptions | undefined;
  /** Must be absent: the SDK has no terminals. */
  pty?: undefined;
}

/** The output that the result contains. */
export interface ExecutionOutputOptions {
  /** @default 'none' */
  capture?: OutputCapture | undefined;
  /** Must be absent: the SDK keeps no events of output. */
  retainEvents?: undefined;
}

/** Options of code that is given as text. */
export interface InlineExecutionOptions extends LanguageExecutionOptions {
  /** Values for the code, which reads them from the global `inputs`. */
  inputs?: Readonly<Record<string, JsonValue>> | undefined;
}

/** Options of `execute()`. */
export interface JavaScriptExecutionOptions extends InlineExecutionOptions {
  /** Code is an ES module. @default 'module' */
  format?: 'module' | undefined;
  /** Must be absent: code has no file. Write the file, and use `executeFile()`. */
  filePath?: undefined;
}
/** Options of `evaluate()`. */
export type JavaScriptEvaluationOptions = JavaScriptExecutionOptions;
/** Options of a program that continues. */
export type LanguageSpawnOptions = Omit<LanguageExecutionOptions, 'contextId'>;

const OUTPUT: OptionTable<ExecutionOutputOptions> = {
  capture: oneOf(['none', 'stderr', 'all'], "'none', 'stderr' or 'all'"),
  retainEvents: without('output events are not kept; use `onStdout` and `onStderr`'),
};

const EXECUTION: OptionTable<JavaScriptExecutionOptions> = {
  contextId: rule((value) => typeof value === 'string', 'the id of a context'),
  cwd: PASSED_ON,
  env: PASSED_ON,
  args: PASSED_ON,
  stdin: PASSED_ON,
  timeoutMs: TIMEOUT_MS,
  signal: PASSED_ON,
  onStdout: PASSED_ON,
  onStderr: PASSED_ON,
  output: objectWith(OUTPUT),
  pty: without('programs have pipes, and no terminals'),
  inputs: rule(isPlain, 'an object of JSON values'),
  format: oneOf(['module'], "'module': write a CommonJS file, and use executeFile()"),
  filePath: without('write the file, and use executeFile()'),
};

/** Accepts the options of one execution. */
export const EXECUTION_OPTIONS: Rule = objectWith(EXECUTION);

/** Converts checked options. */
export function ownExecution(options: LanguageExecutionOptions): RunOptions {
  const { cwd, env, args, stdin, timeoutMs, signal, onStdout, onStderr } = options;
  return { cwd, env, args, stdin, timeout: timeoutMs, signal, onStdout, onStderr };
}
