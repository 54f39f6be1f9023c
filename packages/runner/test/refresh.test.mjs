// Tests each entry of the list in bootstrap/start-up/refresh.js: a process reads its own values,
// and two processes never share a value that must differ.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GuestThread } from './guest-thread.mjs';

let guest;
beforeAll(async () => {
  guest = await GuestThread.start();
}, 60_000);
afterAll(() => guest.stop());

// Returns the value of `expression` in a process that was started with `start`.
async function valueIn(expression, start = {}) {
  const { stdout, stderr } = await guest.run('exec', {
    source: `process.stdout.write(JSON.stringify(${expression}));`,
    ...start,
  });
  if (stderr.length > 0) throw new Error(String(stderr));
  return JSON.parse(String(stdout));
}

const twice = async (expression) => [await valueIn(expression), await valueIn(expression)];

test("the environment has the process's own variables and none of the build's", async () => {
  expect(await valueIn('process.env', { env: { A: '1' } })).toEqual({ A: '1' });
  expect(await valueIn('process.env')).toEqual({});
});

test('the arguments belong to the process', async () => {
  expect(await valueIn('[process.argv, process.argv0, process.execArgv]', { args: ['a', 'b'] })).toEqual([
    ['/usr/local/bin/node', 'a', 'b'],
    'node',
    [],
  ]);
});

test('process ids belong to the process', async () => {
  expect(await valueIn('[process.pid, process.ppid]', { pid: 7 })).toEqual([7, 1]);
});

test("the working directory belongs to the process, in Node's cache too", async () => {
  expect(await valueIn('[process.cwd(), process.getBuiltinModule("path").resolve("x")]', { cwd: '/elsewhere' })).toEqual([
    '/elsewhere',
    '/elsewhere/x',
  ]);
});

test.each([
  'Math.random()',
  'crypto.randomUUID()',
  'process.getBuiltinModule("crypto").randomBytes(8).toString("hex")',
  '[...crypto.getRandomValues(new Uint32Array(2))]',
  'performance.timeOrigin',
])('%s differs between processes', async (expression) => {
  const [first, second] = await twice(expression);
  expect(first).not.toEqual(second);
});

test('clocks count from the start of the process', async () => {
  const before = Date.now();
  const [origin, now, uptime, milestone] = await valueIn(
    '[performance.timeOrigin, performance.now(), process.uptime(), performance.nodeTiming.nodeStart]',
  );
  expect(origin).toBeGreaterThanOrEqual(before - 1);
  expect(origin).toBeLessThanOrEqual(Date.now() + 1);
  for (const value of [now, uptime * 1e3]) {
    expect(value).toBeGreaterThanOrEqual(0);
    expect(value).toBeLessThan(1000);
  }
  expect(Math.abs(milestone)).toBeLessThan(1);
});

test('no work is pending, and no exit code is set', async () => {
  expect(
    await valueIn(
      '[process.exitCode ?? null, process._exiting, process.getActiveResourcesInfo(), process.listenerCount("exit")]',
    ),
  ).toEqual([null, false, [], 0]);
});

test('a process prints warnings that Node prints only once', async () => {
  const { stderr } = await guest.run('exec', { source: 'import url from "node:url"; url.parse("http://a"); new Buffer(1);' });
  expect(String(stderr)).toContain('DEP0169');
  expect(String(stderr)).toContain('DEP0005');
});
