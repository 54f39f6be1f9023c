// A resident runner: snippets share one process and its state, an error ends only its snippet,
// process.exit ends the process.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GuestThread } from './guest-thread.mjs';

let guest;
beforeAll(async () => {
  guest = await GuestThread.start();
}, 60_000);
afterAll(() => guest.stop());

const texts = (results) => results.map(({ exitCode, stdout, stderr }) => [exitCode, String(stdout), String(stderr)]);

test('snippets share globals, modules and listeners', async () => {
  const results = await guest.evaluate([
    'globalThis.count = 1; import { EventEmitter } from "node:events"; globalThis.emitter = new EventEmitter();',
    'emitter.on("x", () => console.log("heard", ++count)); const local = 1;',
    'emitter.emit("x"); const local = 2; console.log(local, import.meta.url);',
  ]);
  expect(texts(results)).toEqual([
    [0, '', ''],
    [0, '', ''],
    [0, 'heard 2\n2 file:///workspace/[eval3]\n', ''],
  ]);
});

test('an uncaught error is reported with its line and ends its snippet only', async () => {
  const results = await guest.evaluate([
    'console.log("one");',
    'const broken = 1;\n  throw new RangeError("two");',
    'let x = ;',
    'console.log("four");',
  ]);
  expect(results.map(({ exitCode, ended }) => [exitCode, ended])).toEqual([
    [0, false],
    [1, false],
    [1, false],
    [0, false],
  ]);
  expect(String(results[1].stderr)).toBe(
    'file:///workspace/[eval2]:2\n  throw new RangeError("two");\n        ^\n\n' +
      'RangeError: two\n    at file:///workspace/[eval2]:2:9\n\nNode.js v24.21.0\n',
  );
  expect(String(results[2].stderr)).toBe(
    "file:///workspace/[eval3]:1\nlet x = ;\n        ^\n\nSyntaxError: Unexpected token ';'\n\nNode.js v24.21.0\n",
  );
  expect(String(results[3].stdout)).toBe('four\n');
});

test('a snippet ends when the work that it started has ended', async () => {
  const results = await guest.evaluate([
    'setTimeout(() => console.log("timer"), 300); setImmediate(() => console.log("immediate")); console.log("main");',
    'await new Promise((resolve) => setTimeout(resolve, 2)); console.log("awaited");',
    'Promise.reject(new Error("nobody"));',
    'process.exitCode = 4;',
    'console.log(process.exitCode);',
  ]);
  expect(results.map(({ exitCode, stdout }) => [exitCode, String(stdout)])).toEqual([
    [0, 'main\nimmediate\ntimer\n'],
    [0, 'awaited\n'],
    [1, ''],
    [4, ''],
    [0, 'undefined\n'],
  ]);
});

test('process.exit ends the process', async () => {
  const results = await guest.evaluate([
    'process.on("exit", (code) => console.log("exit", code));',
    'process.exit(3);',
    'console.log("never");',
  ]);
  expect(results.map(({ exitCode, ended, stdout }) => [exitCode, ended, String(stdout)])).toEqual([
    [0, false, ''],
    [3, true, 'exit 3\n'],
  ]);
});

test('a top-level await that can never settle has code 13, and the runner continues', async () => {
  const results = await guest.evaluate(['await new Promise(() => {});', 'console.log("still here");']);
  expect(results.map(({ exitCode }) => exitCode)).toEqual([13, 0]);
  expect(String(results[0].stderr)).toContain('Detected unsettled top-level await at file:///workspace/[eval1]:1\n');
});

test('__return sets a JSON result in run mode only', async () => {
  const values = ['{ a: [1, "two", null] }', '"text"', 'undefined', 'new Date(0)'];
  const results = await Promise.resolve(values).then(async (list) => {
    const got = [];
    for (const value of list) got.push((await guest.run('run', { source: `__return(${value});` })).value);
    return got;
  });
  expect(results).toEqual(['{"a":[1,"two",null]}', '"text"', 'null', '"1970-01-01T00:00:00.000Z"']);
  const elsewhere = await guest.run('exec', { source: '__return(1);' });
  expect(elsewhere.exitCode).toBe(1);
  expect(String(elsewhere.stderr)).toContain('__return() sets the result of run()');
});

// Node's own loader caches every module, and the resolution of the module's specifiers, under the
// module's URL. The cached entries of snippets must be removed. The test compares the smallest heap
// sizes, because the heap grows between two collections.
test('snippets that use the loader leave no entries behind', async () => {
  const BLOCKS = 48;
  const SIZE = 500;
  const snippet =
    'import { one } from "data:text/javascript,export const one = 1"; ' +
    'const made = [one, await import("data:text/javascript,2")];';
  const measure = 'process.stdout.write(String(process.memoryUsage().heapUsed));';
  const results = await guest.evaluate(
    Array(BLOCKS)
      .fill([...Array(SIZE).fill(snippet), measure])
      .flat(),
  );
  expect(results.every(({ exitCode }) => exitCode === 0)).toBe(true);
  const used = results.filter(({ stdout }) => stdout.length > 0).map(({ stdout }) => Number(stdout));
  const least = (part) => Math.min(...part);
  const growth = least(used.slice(BLOCKS / 2)) - least(used.slice(0, BLOCKS / 2));
  expect(growth / ((SIZE * BLOCKS) / 2)).toBeLessThan(32);
}, 120_000);
