// Lists long cases whose mode makes no difference. The short form of the tests runs these cases in
// shared mode only. The long form runs every case in every mode.

import type { Theme } from '../harness/case.js';

const IN_GUEST = 'the engine and its libraries run inside the guest';
const IN_SHELL = 'the shell runs inside the guest';
const SAME_LIMIT = 'the same code of the sidecar keeps the limit in every mode';

const memory = (names: string[]): string[] => names.map((name) => `the limit of memory ends a program: ${name}`);
const time = (names: string[]): string[] => names.map((name) => `the limit of processor time ends a program: ${name}`);

/** The names of the cases by theme and reason. */
const ONCE: Record<string, Record<string, string[]>> = {
  paths: { [SAME_LIMIT]: ['a working directory thousands deep can be left'] },
  sockets: { [SAME_LIMIT]: ["only the runtime's own listener answers among thousands of loopback ports"] },
  bindings: { [SAME_LIMIT]: ['inputs beyond all limits are refused'] },
  shell: {
    [IN_SHELL]: [
      'a bomb of programs ends',
      'archives that exceed the space fail',
      'brace expansion that multiplies ends',
      'endless awk and bc programs end',
      'endless jq programs end',
      'endless output ends',
      'endless sed programs end',
      'here-documents and lines of a megabyte work',
      'nested brace expansion ends',
      'nested eval ends',
      'random invalid lines are syntax errors',
      'recursive functions end',
      'traps do not prevent the end',
      'xargs and find reach no file of the host machine',
    ],
  },
  prototypes: {
    [IN_GUEST]: [
      'species of arrays, typed arrays, buffers and promises',
      'EventEmitter methods replaced',
      'Reflect replaced',
    ].map((name) => `the engine survives ${name}`),
  },
  're-entrancy': {
    [IN_GUEST]: [
      'regular expressions that are recompiled while they run',
      'objects that are resurrected by finalizers',
      'conversions to text that re-enter themselves',
    ].map((name) => `the engine survives ${name}`),
  },
  sizes: {
    [IN_GUEST]: [
      'arrays of extreme lengths fail',
      'compressed data that exceeds memory fails',
      'numbers with more digits than memory fail',
      'sockets refuse wrong ports',
      'texts longer than memory fail',
    ],
  },
  limits: {
    [SAME_LIMIT]: [
      ...memory([
        'an array that grows by its length',
        'contexts',
        'functions from text',
        'immediates',
        'listeners',
        'microtasks',
        'modules',
        'promises',
        'regular expressions',
        'symbols and names of properties',
        'ticks',
        'timers',
      ]),
      ...time([
        'JSON',
        'a backtracking replacement',
        'a backtracking search',
        'a loop that catches everything',
        'an endless generator',
        'compression',
        'copying memory',
        'filling memory',
        'immediates that queue immediates',
        'immediates that queue immediates beside a server',
        'inspection',
        'large integers',
        'promises that queue promises',
        'sorting',
        'structured copies',
        'text search',
        'thenables that never settle',
        'ticks that queue ticks',
      ]),
      'the stack is bounded: JSON of any depth',
    ],
  },
};

/** Returns the theme with the field `once` on the cases of the table. */
export function markOnce(theme: Theme): Theme {
  const reasons = new Map(
    Object.entries(ONCE[theme.name] ?? {}).flatMap(([reason, names]) => names.map((name) => [name, reason] as const)),
  );
  const cases = theme.cases.map((attempt) => {
    const once = reasons.get(attempt.name);
    reasons.delete(attempt.name);
    return once === undefined ? attempt : { ...attempt, once };
  });
  if (reasons.size > 0) throw new Error(`no cases with these names: ${[...reasons.keys()].join(', ')}`);
  return { ...theme, cases };
}
