// The results of secure-exec 0.2.21: an outcome, with the reason of a failure. A failure of guest
// code never rejects a call.

import { type ExecResult, isColdframeError } from '../index.js';

/** A value of JSON. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** The output that a result contains. */
export type OutputCapture = 'none' | 'stderr' | 'all';

/** The reason of a failure. */
export interface ExecutionErrorData {
  /** The code of the guest's error, or a code of the SDK. */
  code: string;
  name: string;
  message: string;
  stack?: string;
}

interface ResultFields {
  exitCode?: number;
  stdout?: string;
  stderr?: string;
  stdoutTruncated?: boolean;
  stderrTruncated?: boolean;
}

interface Failed extends ResultFields {
  outcome: 'failed' | 'cancelled' | 'timed_out';
  error: ExecutionErrorData;
}

interface Succeeded extends ResultFields {
  outcome: 'succeeded';
  error?: never;
}

/** The result of `execute()`. */
export type CodeExecutionResult = Succeeded | Failed;

/** The result of `evaluate()`. */
export type CodeEvaluationResult<T = JsonValue> = (Succeeded & { value: T }) | (Failed & { value?: never });

/** The record that the guest's part of `evaluate()` returns. */
export interface Evaluated<T> {
  value?: T;
  error?: ExecutionErrorData;
}

/** Waits for a program. An abort of `signal` is an outcome, and not a rejection. */
export async function settle<R extends ExecResult>(run: Promise<R>, signal: AbortSignal | undefined): Promise<R | Failed> {
  try {
    return await run;
  } catch (error) {
    if (!signal?.aborted || isColdframeError(error)) throw error;
    const { name, message } = error instanceof Error ? error : { name: 'AbortError', message: String(error) };
    return { outcome: 'cancelled', error: { code: 'ERR_CANCELED', name, message } };
  }
}

/** Converts the result of a program. */
export function executionResult(result: ExecResult | Failed, capture: OutputCapture = 'none'): CodeExecutionResult {
  if ('outcome' in result) return result;
  const fields = fieldsOf(result, capture);
  const { exitCode, error } = result;
  if (error !== undefined) {
    const { name, code, message } = error;
    return { ...fields, outcome: code === 'ERR_TIMEOUT' ? 'timed_out' : 'failed', error: { code, name, message } };
  }
  return exitCode === 0 ? { ...fields, outcome: 'succeeded' } : { ...fields, outcome: 'failed', error: exited(exitCode) };
}

/** Converts the result of an evaluation. `evaluated` is missing if the program ended earlier. */
export function evaluationResult<T>(
  result: ExecResult | Failed,
  evaluated: Evaluated<T> | undefined,
  capture?: OutputCapture,
): CodeEvaluationResult<T> {
  const base = executionResult(result, capture);
  const sandboxEnded = 'outcome' in result || result.error !== undefined;
  if (sandboxEnded && base.outcome !== 'succeeded') return base;
  const fields = { ...base, error: undefined };
  if (evaluated?.error !== undefined) return { ...fields, outcome: 'failed', error: evaluated.error };
  if (evaluated === undefined || base.outcome !== 'succeeded') {
    return { ...fields, outcome: 'failed', error: base.error ?? exited(base.exitCode ?? 0) };
  }
  const { error: _, ...succeeded } = base;
  return { ...succeeded, value: evaluated.value as T };
}

function fieldsOf(result: ExecResult, capture: OutputCapture): ResultFields {
  const { exitCode, stdout, stderr, stdoutTruncated, stderrTruncated } = result;
  return {
    exitCode,
    ...(capture === 'all' && { stdout, ...(stdoutTruncated && { stdoutTruncated }) }),
    ...(capture !== 'none' && { stderr, ...(stderrTruncated && { stderrTruncated }) }),
  };
}

const exited = (exitCode: number): ExecutionErrorData => ({
  code: 'ERR_PROGRAM_EXITED',
  name: 'Error',
  message: `the program ended with exit code ${exitCode}`,
});
