// A guest program whose output nobody can know without running it.
//
// Each run multiplies other numbers and prints them behind a fresh token, so no layer can answer from a cache, and an answer that
// belongs to another run is caught. A run counts only if its exit code is 0 and its output is exactly this.

import { randomBytes, randomInt } from 'node:crypto';
import type { ExecResult } from './adapter.js';

export interface Snippet {
  code: string;
  stdout: string;
}

export function makeSnippet(): Snippet {
  const token = randomBytes(6).toString('hex');
  const [a, b, c] = [randomInt(1, 1_000_000), randomInt(1, 1_000_000), randomInt(1, 1_000_000)];
  return { code: `console.log('${token}', ${a} * ${b} + ${c});`, stdout: `${token} ${a * b + c}\n` };
}

/** Why a run does not count, or `undefined` if it does. */
export function whatIsWrong(snippet: Snippet, result: ExecResult): string | undefined {
  if (result.exitCode !== 0) return `exit code ${result.exitCode} instead of 0`;
  if (result.stdout !== snippet.stdout) {
    return `output ${JSON.stringify(result.stdout)} instead of ${JSON.stringify(snippet.stdout)}`;
  }
  return undefined;
}
