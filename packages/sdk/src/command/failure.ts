// Prints an error of the command: the code, the message and the remedy. With `--json` the error is
// one JSON document on stdout. Errors without a code are faults of this package and keep their
// stack.

import { type FailureJson, failureJson } from '../errors/failure-json.js';
import { paintFor } from './styles.js';

/**
 * The exit code if the command itself fails. `env`, `timeout` and `docker run` use this code too,
 * and few programs do.
 */
export const COMMAND_FAILED = 125;

/** Prints an error on stderr, or with `json` on stdout. Returns the exit code. */
export function printFailure(error: unknown, json: boolean): number {
  const failure = failureJson(error);
  if (json) {
    const { name, message } = error as Error;
    console.log(JSON.stringify({ error: failure ?? { name, message } }, null, 2));
    return COMMAND_FAILED;
  }
  if (failure === undefined) console.error(error);
  else console.error(failureText(failure));
  return COMMAND_FAILED;
}

/** Returns the two lines that describe an error. */
export function failureText({ code, message, remedy }: Pick<FailureJson, 'code' | 'message' | 'remedy'>): string {
  const paint = paintFor(process.stderr);
  return `${paint('red', 'coldframe:')} ${code}: ${message}\n${paint('dim', 'remedy:')} ${remedy}`;
}
