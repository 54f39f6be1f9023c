// Tests the code interpreter with E2B's own client, which is not modified.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sandbox } from '@e2b/code-interpreter';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServer, type Server } from '../../dist/index.js';

const OPTIONS = { apiKey: `e2b_${'0'.repeat(40)}` };
let directory: string;
let server: Server;
let url: string;
let sandbox: Sandbox;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coldframe-server-'));
  server = await createServer({ directory });
  const { port } = await server.listen(0);
  url = `http://127.0.0.1:${port}`;
  sandbox = await Sandbox.create('base', { ...OPTIONS, apiUrl: url, sandboxUrl: url, envs: { GIVEN: 'yes' } });
});
afterAll(async () => {
  await sandbox?.kill();
  await server?.close();
  await rm(directory, { recursive: true });
});

const target = (): Record<string, string> => ({
  'e2b-sandbox-id': sandbox.sandboxId,
  'e2b-sandbox-port': '49999',
  'content-type': 'application/json',
});
const request = (path: string, method: string, body?: unknown) =>
  fetch(`${url}${path}`, { method, headers: target(), ...(body !== undefined && { body: JSON.stringify(body) }) });

test('cells of JavaScript and TypeScript share their state', async () => {
  const hello = await sandbox.runCode('const who = "Wörld"; console.log("Hello"); console.log(who); who', { language: 'js' });
  expect(hello).toMatchObject({ text: 'Wörld', logs: { stdout: ['Hello\n', 'Wörld\n'], stderr: [] } });
  expect((await sandbox.runCode("import { sep } from 'path'; await Promise.resolve(who + sep)", { language: 'js' })).text).toBe(
    'Wörld/',
  );
  expect((await sandbox.runCode('const n: number = 4; n', { language: 'ts' })).text).toBe('4');
  const failed = await sandbox.runCode('null.x', { language: 'js' });
  expect(failed.error).toMatchObject({
    name: 'TypeError',
    value: expect.any(String),
    traceback: expect.stringContaining('TypeError'),
  });
  const shown = await sandbox.runCode("await display({ 'text/html': '<b>', 'application/json': { a: 1 } }, { raw: true }); 1", {
    language: 'js',
  });
  expect(shown.results.map(({ html, json, isMainResult }) => [html, json, isMainResult])).toEqual([
    ['<b>', { a: 1 }, false],
    [undefined, undefined, true],
  ]);
});

test('a shell keeps its state', async () => {
  await sandbox.runCode('a=1; cd /tmp', { language: 'bash' });
  const { logs, error } = await sandbox.runCode('echo $a $GIVEN; pwd; echo err >&2', { language: 'bash' });
  expect(error).toBeUndefined();
  expect(logs).toEqual({ stdout: ['1 yes\n', '/tmp\n'], stderr: ['err\n'] });
});

test('variables of an execution end with the execution', async () => {
  const code = 'process.env.GIVEN + process.env.OTHER';
  expect((await sandbox.runCode(code, { language: 'js', envs: { GIVEN: 'no', OTHER: '1' } })).text).toBe('no1');
  expect((await sandbox.runCode(code, { language: 'js' })).text).toBe('yesundefined');
});

test('contexts are created, listed, restarted and removed', async () => {
  const made = await sandbox.createCodeContext({ language: 'js', cwd: '/tmp' });
  expect(made).toMatchObject({ language: 'javascript', cwd: '/tmp' });
  expect((await sandbox.listCodeContexts()).at(-1)).toMatchObject(made);
  expect((await sandbox.runCode('globalThis.x = 1; process.cwd()', { context: made })).text).toBe('/tmp');
  await sandbox.restartCodeContext(made.id);
  expect((await sandbox.runCode('typeof x', { context: made })).text).toBe('undefined');
  await sandbox.removeCodeContext(made.id);
  await expect(sandbox.runCode('1', { context: made })).rejects.toThrow('not found');
  expect((await sandbox.listCodeContexts()).map(({ language }) => language).slice(0, 2)).toEqual(['python', 'javascript']);
});

test('a language that is not available is a clear error', async () => {
  const { error } = await sandbox.runCode('x = 1', { language: 'r' });
  const languages = 'javascript, typescript, python, bash';
  expect(error?.value).toBe(`r is not available in this sandbox. The available languages are ${languages}.`);
});

test('a server in a cell continues while later cells run', async () => {
  await sandbox.runCode(
    "import http from 'http'; await new Promise((r) => http.createServer((q, s) => s.end('up')).listen(8080, r))",
    {
      language: 'js',
    },
  );
  const code = "await (await fetch('http://localhost:8080')).text()";
  expect((await sandbox.runCode(code, { language: 'js' })).text).toBe('up');
});

test('a client that leaves interrupts its cell, and the context keeps its state', async () => {
  await sandbox.runCode('let kept = 1', { language: 'js' });
  const controller = new AbortController();
  const response = await fetch(`${url}/execute`, {
    method: 'POST',
    headers: target(),
    body: JSON.stringify({ code: 'console.log("begun"); while (true);', language: 'js' }),
    signal: controller.signal,
  });
  await response.body?.getReader().read();
  controller.abort();
  expect((await sandbox.runCode('++kept', { language: 'js' })).text).toBe('2');
  // A cell that ends the process of its context loses the state, and the next cell has a new
  // process.
  await sandbox.runCode('process.exit(3)', { language: 'js' });
  expect((await sandbox.runCode('typeof kept', { language: 'js' })).text).toBe('undefined');
});

test('a paused sandbox keeps its contexts', async () => {
  await sandbox.runCode('let slept = 1', { language: 'js' });
  await sandbox.pause();
  await sandbox.connect();
  expect((await sandbox.runCode('slept', { language: 'js' })).text).toBe('1');
});

test('the stream is ASCII, and wrong requests are refused with a text', async () => {
  const executed = await request('/execute', 'POST', { code: "'ü☃😀'", language: 'js', context_id: null, env_vars: null });
  const lines = (await executed.text()).trimEnd().split('\n');
  expect(lines.join('')).toMatch(/^[ -~]*$/);
  expect(lines.map((line) => JSON.parse(line)).map(({ type }) => type)).toEqual([
    'number_of_executions',
    'result',
    'end_of_execution',
  ]);
  expect(JSON.parse(lines[1] ?? '').text).toBe('ü☃😀');
  const refused = async (response: Promise<Response>) => {
    const { status, headers } = await response;
    return [status, headers.get('content-type')];
  };
  const text = 'text/plain; charset=utf-8';
  expect(await refused(request('/execute', 'POST', { code: '1', language: 'js', context_id: 'x' }))).toEqual([400, text]);
  expect(await refused(request('/execute', 'POST', { code: 1 }))).toEqual([400, text]);
  expect(await refused(request('/execute', 'POST', { code: '1', context_id: 'x' }))).toEqual([404, text]);
  expect(await refused(request('/contexts', 'POST', { cwd: '/missing' }))).toEqual([400, text]);
  expect(await refused(request('/contexts/x', 'DELETE'))).toEqual([404, text]);
  expect(await (await request('/health', 'GET')).json()).toBe('OK');
});
