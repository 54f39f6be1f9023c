// Tests regular expressions: patterns that begin with `^` do not search, all others do, and both
// have the results of V8. The number of polls of the engine replaces a time: the engine polls at
// intervals while it searches.
import { describe, expect, it } from 'vitest';
import { BareGuest } from './bare-guest.mjs';
import { describeCase, generateCase, hasModifiers } from './random-regexps/generate.mjs';

const guest = new BareGuest();

const LENGTH = 300_000;
/** The text itself costs a few polls. A search of the text costs sixty. */
const MOST_POLLS_WITHOUT_SEARCH = 15;
const LEAST_POLLS_OF_A_SEARCH = 30;

/** Returns the number of polls of an expression over `text`, whose letters are all `a`. */
async function pollsOf(expression) {
  const { exitCode, out } = await guest.run(`const text = 'a'.repeat(${LENGTH}); ${expression}; print('done');`);
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: 'done\n' });
  return guest.polls;
}

describe('a pattern without the flag m', () => {
  it.each([
    '/^x/',
    '/^x/g',
    '/^x/i',
    '/^x/s',
    '/^x/u',
    '/^x/v',
    '/^$/',
    '/^x|^y/',
    '/^x|^y|^z|^w/',
    '/(^x)/',
    '/(?<letter>^x)/',
    '/(?:^x)y/',
    '/((?:^x|(^y))|^z)w/',
    '/(?:^x)+/',
    '/(?i:^x)/',
    '/(?-m:^x)/m',
  ])('does not search if every alternative begins with ^: %s', async (pattern) => {
    expect(await pollsOf(`new RegExp(...${splitPattern(pattern)}).test(text.slice(1))`)).toBeLessThan(MOST_POLLS_WITHOUT_SEARCH);
  });

  it.each(['text.match(/^x/)', 'text.search(/^x/)', "text.replace(/^x/, '')", "text.replace(/^x/g, 'y')"])(
    'does not search in %s',
    async (expression) => {
      expect(await pollsOf(expression)).toBeLessThan(MOST_POLLS_WITHOUT_SEARCH);
    },
  );
});

it.each([
  '/x/',
  '/^x/m',
  '/^x|y/',
  '/(?:^x|)y/',
  '/(?:^x)?y/',
  '/(?:^x)*y/',
  '/(?!^)x/',
  '/(?m:^x)/',
  '/a(?<=^x)/',
  '/(?:)x|^y/',
])('a pattern that can match elsewhere searches: %s', async (pattern) => {
  expect(await pollsOf(`new RegExp(...${splitPattern(pattern)}).test(text)`)).toBeGreaterThan(LEAST_POLLS_OF_A_SEARCH);
});

/** Returns the arguments of `new RegExp` for a literal, as JSON. */
function splitPattern(literal) {
  const end = literal.lastIndexOf('/');
  return JSON.stringify([literal.slice(1, end), literal.slice(end + 1)]);
}

/** The results of V8. Older versions of Node cannot compute the results of modifiers. */
it.each([
  ["/^b/.exec('a\\nb')", null],
  ["/^b/m.exec('a\\nb').index", 2],
  ["/^a|b/.exec('cb').index", 1],
  ["/a|^b/.exec('ca').index", 1],
  ["/(?:^a)*/.exec('ba').index", 0],
  ["/(?:^a)*b/.exec('cb').index", 1],
  ["/(?:^a)?b/.exec('cab').index", 2],
  ["/(?:^a|^b)c|d/.exec('cd').index", 1],
  ["/(?<=^a)b/.exec('ab').index", 1],
  ["/(?<!^)b/.exec('bb').index", 1],
  ["/(?m:^)b/.exec('a\\nb').index", 2],
  ["/(?m:^b)|^c/.exec('a\\nb').index", 2],
  ["/(?-m:^)b/m.exec('a\\nb')", null],
  ["/(?-m:^)b|a/m.exec('b\\na').index", 0],
  [
    "(() => { const r = /^a/g; r.lastIndex = 1; return [r.exec('aa'), r.lastIndex, r.exec('aa').index, r.lastIndex].join(); })()",
    ',0,0,1',
  ],
  [
    "(() => { const r = /^a/y; r.lastIndex = 1; return [r.exec('aa'), r.lastIndex, r.exec('aa').index, r.lastIndex].join(); })()",
    ',0,0,1',
  ],
  ["(() => { const r = /^./gu; r.lastIndex = 1; return [r.exec('😀a').index, r.lastIndex].join(); })()", '0,2'],
  ["'aaa'.replace(/^a/g, 'b')", 'baa'],
  ["'a\\na'.replace(/^a/gm, 'b')", 'b\nb'],
  ["'aaa'.split(/^a/).join('|')", '|aa'],
  ["[...'aaa'.matchAll(/^|a$/g)].map(({ index }) => index).join()", '0,2'],
])('%s is %j', async (expression, expected) => {
  const { out } = await guest.run(`print(JSON.stringify(${expression}));`);
  expect(JSON.parse(out)).toEqual(expected);
});

it('compiles long lists and deep nests of alternatives that begin with ^', async () => {
  const { out } = await guest.run(`
    const list = new RegExp(Array.from({ length: 1000 }, (_, i) => '^' + i).join('|'));
    print(list.exec('999').index, list.test('a999'));
    const nest = new RegExp('(?:^a|'.repeat(100) + '^b' + ')'.repeat(100));
    print(nest.exec('b').index, nest.test('ab'), nest.test('xb'));
    print(new RegExp('(?:(?:^a|(?:^b)?)|(?:^c)?)'.repeat(1000)).test(''));`);
  expect(out).toBe('0 false\n0 true false\ntrue\n');
});

const CASES = process.env.COLDFRAME_TESTS === 'long' ? 200_000 : 6_000;
const CASES_OF_A_PROGRAM = 1_000;
const MS_PER_CASE = 5;

/** Whether the V8 of this process knows the syntax of the pattern. */
function runsInV8({ pattern, flags }) {
  try {
    return new RegExp(pattern, flags).flags !== undefined;
  } catch {
    return false;
  }
}

it(
  `${CASES} random patterns have the results of V8`,
  async () => {
    for (let from = 0; from < CASES; from += CASES_OF_A_PROGRAM) {
      const cases = Array.from({ length: CASES_OF_A_PROGRAM }, (_, i) => generateCase(from + i)).filter(
        (one) => !hasModifiers(one) || runsInV8(one),
      );
      const { exitCode, out } = await guest.run(`${describeCase}
        for (const one of ${JSON.stringify(cases)}) print(describeCase(one));`);
      expect(exitCode).toBe(0);
      const results = out.trimEnd().split('\n');
      expect(results.length).toBe(cases.length);
      for (const [index, one] of cases.entries()) {
        const expected = describeCase(one);
        if (results[index] !== expected)
          expect({ ...one, results: JSON.parse(results[index]) }).toEqual({ ...one, results: JSON.parse(expected) });
      }
    }
  },
  60_000 + CASES * MS_PER_CASE,
);
