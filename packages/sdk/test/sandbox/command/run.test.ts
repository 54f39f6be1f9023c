// Tests `coldframe run` and `coldframe exec` in real child processes.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { COMMAND, run, start } from './command.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coldframe-command-'));
  await writeFile(
    join(folder, 'app.mjs'),
    'console.log(process.argv.slice(2).join()); console.error("err"); process.exitCode = 3;',
  );
  await writeFile(join(folder, 'importing.mjs'), 'import { n } from "./lib.mjs"; console.log(n, process.argv[1]);');
  await writeFile(join(folder, 'lib.mjs'), 'export const n = 7;');
});
afterAll(() => rm(folder, { recursive: true }));

test('runs a file with arguments, and exits with its exit code', async () => {
  const args = ['run', join(folder, 'app.mjs'), '--timeout', '-x'];
  expect(await run(args)).toEqual({ code: 3, stdout: '--timeout,-x\n', stderr: 'err\n' });
});

test('a file sees its folder only if the folder is mounted', async () => {
  const file = join(folder, 'importing.mjs');
  expect(await run(['run', '--mount', `${folder}:/app:ro`, file])).toEqual({
    code: 0,
    stdout: '7 /app/importing.mjs\n',
    stderr: '',
  });
  expect(await run(['run', file])).toMatchObject({ code: 1, stderr: expect.stringContaining('ERR_MODULE_NOT_FOUND') });
});

test('runs a program from stdin', async () => {
  expect(await run(['run', '-', 'a'], { input: 'console.log(process.argv[1])' })).toEqual({ code: 0, stdout: 'a\n', stderr: '' });
});

test('passes stdin to the program while the program runs', async () => {
  const { child, ended, until } = start(['exec', 'process.stdin.on("data", (d) => process.stdout.write(`<${d}>`))']);
  for (const word of ['one', 'two']) {
    child.stdin?.write(word);
    await until(`<${word}>`);
  }
  child.stdin?.end();
  expect((await ended).code).toBe(0);
});

// Node joins the waiting chunks of stdin, so that one chunk can exceed each of these limits.
test.each([1_000, 65_536, 100_000])('passes input that is longer than the %d bytes that may wait', async (most) => {
  const code =
    'let n = 0; setTimeout(() => process.stdin.on("data", (d) => { n += d.length }).on("end", () => console.log(n)), 100)';
  const outcome = await run(['exec', '--limit', `stdinBytes=${most}`, code], { input: 'x'.repeat(10 * most) });
  expect(outcome).toEqual({ code: 0, stdout: `${10 * most}\n`, stderr: '' });
});

test('refuses input if no bytes may wait', async () => {
  const args = ['exec', '--limit', 'stdinBytes=0', 'process.stdin.resume()'];
  expect(await run(args)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(await run(args, { input: 'x' })).toMatchObject({ code: 125, stderr: expect.stringContaining('ENOBUFS') });
});

test('options reach the guest', async () => {
  const args = ['--env', 'A=1', '--cwd', '/tmp', '--deny-fs-write', '--limit', 'memoryBytes=32MiB', '--typescript'];
  const code = `import { writeFileSync } from 'node:fs';
    const all: unknown[] = [process.env.A, process.cwd()];
    try { writeFileSync('/tmp/x', '') } catch (error) { all.push(error.code) }
    console.log(JSON.stringify(all)); new Array(1e7).fill(0).map(() => ({}))`;
  const { code: exitCode, stdout, stderr } = await run(['exec', ...args, code]);
  expect([exitCode, JSON.parse(stdout)]).toEqual([134, ['1', '/tmp', 'EACCES']]);
  expect(stderr).toMatch(/^coldframe: ERR_MEMORY_LIMIT: .*\nremedy: .*--limit memoryBytes/m);
});

test('--json prints the result with the error and its remedy', async () => {
  const { code, stdout, stderr } = await run(['exec', '--json', '--timeout', '300', 'console.log(1); for (;;);']);
  expect([code, stderr]).toEqual([124, '']);
  expect(JSON.parse(stdout)).toMatchObject({
    exitCode: 124,
    stdout: '1\n',
    error: { code: 'ERR_TIMEOUT', timeoutMs: 300, remedy: expect.stringContaining('--timeout') },
  });
});

test('an error of the command has a code and a remedy, and exit code 125', async () => {
  const outcome = await run(['run', join(folder, 'missing.mjs')]);
  expect(outcome).toMatchObject({ code: 125, stdout: '' });
  expect(outcome.stderr).toMatch(/^coldframe: ERR_COMMAND_FILE: .*missing\.mjs.*\nremedy: .+\n$/);
  const json = await run(['run', '--json', join(folder, 'missing.mjs')]);
  expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
    125,
    { error: { code: 'ERR_COMMAND_FILE', remedy: expect.any(String) } },
  ]);
  expect(await run(['run'])).toMatchObject({ code: 125, stderr: expect.stringContaining('expected FILE|- [ARGUMENT...]') });
});

test.each([
  ['that does not handle the signal', 'console.log("ready"); setInterval(() => {}, 1000)', ''],
  ['that computes', 'console.log("ready"); for (;;);', ''],
  [
    'after its handler',
    'process.on("SIGINT", () => { console.log("bye"); process.exit(0) }); console.log("ready"); setInterval(() => {}, 1000)',
    'bye\n',
  ],
  ['that ignores the signal', 'process.on("SIGINT", () => {}); console.log("ready"); setInterval(() => {}, 1000)', ''],
])('SIGINT ends a program %s, and the exit code is 130', async (_, code, last) => {
  const { child, ended, until } = start(['exec', code]);
  await until('ready\n');
  child.kill('SIGINT');
  expect(await ended).toEqual({ code: 130, stdout: `ready\n${last}`, stderr: '' });
});

test('ends quietly when the reader of the output closes its end', async () => {
  const child = spawn(process.execPath, [COMMAND, 'exec', 'for (;;) console.log("y")'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  expect([...(await once(child, 'close')), stderr]).toEqual([141, null, '']);
});
