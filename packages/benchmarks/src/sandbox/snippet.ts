// Makes guest programs whose output cannot be known without running them.
//
// Each program computes with new random numbers and prints the result after a fresh token. So no
// layer can reply from a cache, and the output of another run is detected. A run counts only if its
// exit code is 0 and its output is exactly the expected text.

import { randomBytes, randomInt } from 'node:crypto';

export interface ExecResult {
  stdout: string;
  exitCode: number;
}

export interface Snippet {
  code: string;
  /** The expected output. */
  stdout: string;
}

export function makeSnippet(): Snippet {
  const token = randomBytes(6).toString('hex');
  const [a, b, c] = [randomInt(1, 1_000_000), randomInt(1, 1_000_000), randomInt(1, 1_000_000)];
  return { code: `console.log('${token}', ${a} * ${b} + ${c});`, stdout: `${token} ${a * b + c}\n` };
}

/** Returns the problem of a run, or `undefined` for a right run. */
export function problemOf(snippet: Snippet, result: ExecResult): string | undefined {
  if (result.exitCode !== 0) return `exit code ${result.exitCode} instead of 0`;
  if (result.stdout !== snippet.stdout) {
    return `output ${JSON.stringify(result.stdout)} instead of ${JSON.stringify(snippet.stdout)}`;
  }
  return undefined;
}
