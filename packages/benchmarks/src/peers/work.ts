// The expressions that all peers evaluate, with the expected values.
//
// The short expression has new random numbers and a new token each time, so no cache can reply. The
// long expressions compute for some milliseconds. Their expected values are computed by Node. Inner
// functions are in a closure, because a global function is slow in `node:vm`.

import { randomBytes, randomInt } from 'node:crypto';
import { runInNewContext } from 'node:vm';

/** An expression, and its value as text. */
export interface Work {
  expression: string;
  expected: string;
}

export function shortWork(): Work {
  const token = randomBytes(6).toString('hex');
  const [a, b, c] = [randomInt(1, 1_000_000), randomInt(1, 1_000_000), randomInt(1, 1_000_000)];
  return { expression: `'${token} ' + (${a} * ${b} + ${c})`, expected: `${token} ${a * b + c}` };
}

const calls = (depth: number, salt: number): string =>
  `(() => { const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); return fib(${depth}) + ${salt}; })()`;

const objects = (count: number, salt: number): string => `(() => {
  const sums = {};
  for (let i = 0; i < ${count}; i++) { const key = 'k' + ((i * 7919 + ${salt}) % 997); sums[key] = (sums[key] ?? 0) + i; }
  const list = Object.entries(sums).sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1));
  const text = JSON.stringify(list);
  return text.length + ' ' + JSON.parse(text)[7][0] + ' ' + text.replace(/\\d/g, '').length;
})()`;

export const COMPUTATIONS = ['calls', 'objects'] as const;
export type Computation = (typeof COMPUTATIONS)[number];

/** Returns a computation with a new number. `isQuick` makes the computation small. */
export function longWork(computation: Computation, isQuick: boolean): Work {
  const salt = randomInt(1, 1_000);
  const expression = computation === 'calls' ? calls(isQuick ? 12 : 25, salt) : objects(isQuick ? 200 : 20_000, salt);
  return { expression, expected: String(runInNewContext(expression)) };
}
