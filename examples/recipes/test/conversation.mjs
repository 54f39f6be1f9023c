// The conversation that every recipe holds in its test. A mock model calls the tool three times and
// then answers.

import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';

/**
 * The tool calls of the mock model. A limit ends the first program. The second program throws an
 * error.
 */
export const calls = [
  { id: 'call_endless', code: 'while (true) {}' },
  { id: 'call_throws', code: `throw new TypeError('no such fruit')` },
  { id: 'call_answer', code: 'console.log(6 * 7)' },
];

export const QUESTION = 'What is six times seven?';
export const ANSWER = 'The answer is 42.';

/**
 * The time limit of a program. The endless program uses all of the time. The other programs need
 * far less, also on a slow machine.
 */
export const timeout = 3_000;

/** The results that a model receives, in the order of the calls. */
export const results = [
  {
    exitCode: 124,
    signal: 'SIGKILL',
    stdout: '',
    stderr: `coldframe: the program ran longer than its timeout of ${timeout} ms (ERR_TIMEOUT, limit: timeout)\n`,
    error: {
      name: 'ColdframeError',
      code: 'ERR_TIMEOUT',
      message: `the program ran longer than its timeout of ${timeout} ms`,
      timeoutMs: timeout,
    },
  },
  { exitCode: 1, signal: null, stdout: '', stderr: expect.stringContaining('TypeError: no such fruit') },
  { exitCode: 0, signal: null, stdout: '42\n', stderr: '' },
];

/** Returns the pids of this process's children: the sidecars that a recipe has not disposed. */
export function children() {
  const tasks = readdirSync('/proc/self/task');
  return tasks.flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean));
}
