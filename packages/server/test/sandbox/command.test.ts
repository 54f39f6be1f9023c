// Tests `coldframe serve` and the subcommands that call a server, each in a process of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const COMMAND = fileURLToPath(new URL('../../../sdk/dist/command.js', import.meta.url));

interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

let folder: string;
let server: ChildProcess;
let started: { apiUrl: string; pageUrl: string; mcpUrl: string; apiKey: string; directory: string };

const environment = (env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => {
  const { COLDFRAME_API_KEY: _, E2B_API_URL: __, ...rest } = process.env;
  return { ...rest, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, ...env };
};

async function coldframe(words: readonly string[], { input = '', env = {} }: { input?: string; env?: NodeJS.ProcessEnv } = {}) {
  const child = spawn(process.execPath, [COMMAND, ...words], { cwd: folder, env: environment(env), stdio: 'pipe' });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await closed) as [number | null];
  return { code, stdout, stderr } satisfies Outcome;
}

async function lines(words: readonly string[], options = {}): Promise<string> {
  const { code, stdout, stderr } = await coldframe(words, options);
  expect([code, stderr]).toEqual([0, '']);
  return stdout.trim();
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coldframe-command-'));
  server = spawn(process.execPath, [COMMAND, 'serve', '--port', '0', '--json'], { env: environment(), stdio: 'pipe' });
  const [chunk] = (await once(server.stdout as NonNullable<typeof server.stdout>, 'data')) as [Buffer];
  started = JSON.parse(String(chunk));
  await lines(['login', '--url', started.apiUrl], { input: started.apiKey });
});
afterAll(async () => {
  if (server.exitCode === null) {
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
  await rm(folder, { recursive: true });
});

test('serve listens at the loopback with a key that only the user can read', async () => {
  expect(started.apiUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(started.pageUrl).toBe(`${started.apiUrl}/ui/`);
  const path = join(started.directory, 'api-key');
  expect([(await stat(path)).mode & 0o777, (await readFile(path, 'utf8')).trim()]).toEqual([0o600, started.apiKey]);
  expect((await fetch(`${started.apiUrl}/v2/sandboxes`)).status).toBe(401);
});

test('serve refuses an address beyond the loopback without a key', async () => {
  const { code, stderr } = await coldframe(['serve', '--host', '0.0.0.0', '--port', '0']);
  expect([code, stderr]).toEqual([125, expect.stringMatching(/--host 0\.0\.0\.0 is beyond the loopback.*\n.*--api-key/)]);
});

test('serve reads keys of tenants and quotas from a file, and refuses other options', async () => {
  const path = join(folder, 'serve.json');
  const serveWith = (content: unknown, ...words: string[]) =>
    writeFile(path, JSON.stringify(content)).then(() => coldframe(['serve', '--port', '0', '--config', path, ...words]));
  const wrong = await serveWith({ quota: {} });
  expect([wrong.code, wrong.stderr]).toEqual([125, expect.stringMatching(/serve\.json: .*Unrecognized key: "quota"/s)]);
  expect((await coldframe(['serve', '--config', join(folder, 'missing.json')])).stderr).toContain('ENOENT');
  const quotas = { acme: { sandboxes: 0 } };
  await writeFile(path, JSON.stringify({ apiKeys: [{ key: 'of-acme', tenant: 'acme', scopes: ['exec'] }], quotas }));
  const words = ['serve', '--port', '0', '--json', '--config', path, '--data', join(folder, 'of-config')];
  const child = spawn(process.execPath, [COMMAND, ...words], { env: environment(), stdio: 'pipe' });
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  const { apiUrl, apiKey } = JSON.parse(String(chunk));
  expect(apiKey).toBe(undefined);
  const create = { method: 'POST', headers: { 'x-api-key': 'of-acme', 'content-type': 'application/json' } };
  const refused = await fetch(`${apiUrl}/sandboxes`, { ...create, body: JSON.stringify({ templateID: 'base' }) });
  expect([refused.status, ((await refused.json()) as { error_code: string }).error_code]).toEqual([429, 'quota']);
  child.kill('SIGTERM');
  await once(child, 'exit');
});

test('login stores a key that the server accepts, in a file of the user', async () => {
  const path = join(folder, 'coldframe', 'server.json');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ url: started.apiUrl, apiKey: started.apiKey });
  const wrong = await coldframe(['login', '--url', started.apiUrl], { input: 'wrong' });
  expect([wrong.code, wrong.stderr]).toEqual([125, expect.stringContaining('invalid API key')]);
  expect(JSON.parse(await readFile(path, 'utf8')).apiKey).toBe(started.apiKey);
  expect(await lines(['whoami'])).toContain(`${started.apiUrl} with the key ...${started.apiKey.slice(-4)}`);
});

test('the stored key is only sent to its own server', async () => {
  const { code, stderr } = await coldframe(['whoami', '--url', started.apiUrl.replace('127.0.0.1', 'localhost')]);
  expect([code, stderr]).toEqual([125, expect.stringContaining('coldframe login')]);
});

test('creates, lists and kills sandboxes', async () => {
  const id = await lines(['sandbox', 'create', '--metadata', 'name=one', '--env', 'A=1', '--timeout', '60']);
  expect(id).toMatch(/^i[a-z0-9]{20,}$/);
  expect(await lines(['sandbox', 'ls'])).toMatch(new RegExp(`^ID .*\\n${id} +base +running .*name=one$`, 'm'));
  expect(await lines(['sandbox', 'exec', id, 'printenv', 'A'])).toBe('1');
  expect(await lines(['sandbox', 'kill', id])).toBe(id);
  const gone = await coldframe(['sandbox', 'kill', id]);
  expect([gone.code, gone.stderr]).toEqual([125, expect.stringContaining('was not found')]);
});

async function withSandbox(use: (id: string) => Promise<void>): Promise<void> {
  const id = await lines(['sandbox', 'create']);
  try {
    await use(id);
  } finally {
    await coldframe(['sandbox', 'kill', id]);
  }
}

test('exec passes streams, options and the exit code', async () =>
  withSandbox(async (id) => {
    const script = 'read line; echo "got $line"; echo err >&2; pwd; exit 3';
    const ran = await coldframe(['sandbox', 'exec', '--cwd', '/tmp', id, 'bash', '-c', script], { input: 'hello\n' });
    expect(ran).toEqual({ code: 3, stdout: 'got hello\n/tmp\n', stderr: 'err\n' });
    expect(await lines(['sandbox', 'exec', id, '--', 'ls', '-d', '/tmp'])).toBe('/tmp');
    const missing = await coldframe(['sandbox', 'exec', id, 'no-such-command']);
    expect([missing.code, missing.stderr]).toEqual([125, expect.stringContaining('no-such-command')]);
  }));

test('cp copies files and directories both ways', async () =>
  withSandbox(async (id) => {
    await writeFile(join(folder, 'local.txt'), 'local');
    await lines(['sandbox', 'cp', 'local.txt', `${id}:/home/user/`]);
    await lines(['sandbox', 'cp', '-', `${id}:/home/user/tree/in/stdin.txt`], { input: 'from stdin' });
    expect(await lines(['sandbox', 'cp', `${id}:local.txt`, '-'])).toBe('local');
    await lines(['sandbox', 'cp', '--recursive', `${id}:/home/user/tree`, 'copied']);
    expect(await readFile(join(folder, 'copied', 'in', 'stdin.txt'), 'utf8')).toBe('from stdin');
    const refused = await coldframe(['sandbox', 'cp', `${id}:/home/user/tree`, 'other']);
    expect([refused.code, refused.stderr]).toEqual([125, expect.stringContaining('is a directory')]);
    await lines(['sandbox', 'cp', '-r', 'copied', `${id}:/home/user/back`]);
    expect(await lines(['sandbox', 'exec', id, 'cat', 'back/in/stdin.txt'])).toBe('from stdin');
  }));

test('pauses, resumes, forks and takes snapshots', async () =>
  withSandbox(async (id) => {
    await lines(['sandbox', 'exec', id, 'bash', '-c', 'echo kept > state']);
    await lines(['sandbox', 'pause', id]);
    expect(await lines(['sandbox', 'ls'])).toMatch(new RegExp(`^${id} +base +paused`, 'm'));
    await lines(['sandbox', 'resume', id]);
    expect(await lines(['sandbox', 'exec', id, 'cat', 'state'])).toBe('kept');
    const fork = await lines(['sandbox', 'fork', id]);
    expect(await lines(['sandbox', 'exec', fork, 'cat', 'state'])).toBe('kept');
    await lines(['sandbox', 'kill', fork]);
    const snapshot = await lines(['sandbox', 'snapshot', id, '--name', 'my-state']);
    expect(await lines(['sandbox', 'snapshots', id])).toContain(snapshot);
    const copy = await lines(['sandbox', 'create', '--template', 'my-state']);
    expect(await lines(['sandbox', 'exec', copy, 'cat', 'state'])).toBe('kept');
    await lines(['sandbox', 'kill', copy]);
    await lines(['template', 'delete', snapshot]);
  }));

test('rolls back, prints the log, and lists templates', async () =>
  withSandbox(async (id) => {
    await lines(['sandbox', 'exec', id, 'bash', '-c', 'echo one > state; echo logged']);
    const snapshot = await lines(['sandbox', 'snapshot', id]);
    await lines(['sandbox', 'exec', id, 'bash', '-c', 'echo two > state']);
    await lines(['sandbox', 'rollback', id, snapshot]);
    expect(await lines(['sandbox', 'exec', id, 'cat', 'state'])).toBe('one');
    expect(await lines(['sandbox', 'logs', id])).toMatch(/^\d{4}-.* info logged$/m);
    await lines(['template', 'delete', snapshot]);
  }));

test('builds, lists, uses and deletes a template', async () => {
  await mkdir(join(folder, 'app'), { recursive: true });
  await writeFile(join(folder, 'app', 'index.js'), 'console.log(process.env.NAME, process.cwd())');
  const dockerfile = 'FROM node:24\nWORKDIR /app\nENV NAME=built\nCOPY index.js .\nRUN node --check index.js\n';
  await writeFile(join(folder, 'app', 'Dockerfile'), dockerfile);
  const built = await lines(['template', 'build', 'app', '--name', 'my-app']);
  const template = built.split('\n').at(-1) as string;
  expect(await lines(['template', 'list'])).toMatch(new RegExp(`^${template} .*my-app`, 'm'));
  const id = await lines(['sandbox', 'create', '--template', 'my-app']);
  expect(await lines(['sandbox', 'exec', '--cwd', '/app', id, 'node', 'index.js'])).toBe('built /app');
  await lines(['sandbox', 'kill', id]);
  await writeFile(join(folder, 'app', 'Dockerfile'), 'FROM node:24\nRUN exit 7\n');
  const failed = await coldframe(['template', 'build', 'app', '--name', 'other']);
  expect([failed.code, failed.stderr]).toEqual([125, expect.stringContaining('the build failed')]);
  await lines(['template', 'delete', template]);
});

test('sh opens a terminal and returns the exit code of its program', async () =>
  withSandbox(async (id) => {
    const program = 'process.stdin.once("data", (data) => { console.log("got " + data); process.exit(4) })';
    const ran = await coldframe(['sandbox', 'sh', id, 'node', '-e', program], { input: 'typed\n' });
    expect([ran.code, ran.stdout]).toEqual([4, expect.stringContaining('got typed')]);
  }));

test('a wrong word is refused with the right words', async () => {
  const { code, stderr } = await coldframe(['sandbox', 'crate']);
  expect([code, stderr]).toEqual([125, expect.stringMatching(/expected one of create, ls/)]);
  expect((await coldframe(['sandbox', 'create', '--timeout', 'soon'])).stderr).toContain('--timeout: expected a whole number');
});

test('a command without a server states the address', async () => {
  const { code, stderr } = await coldframe(['sandbox', 'ls', '--url', 'http://127.0.0.1:1']);
  expect([code, stderr]).toEqual([125, expect.stringMatching(/ERR_SERVER_UNREACHABLE: The server at http:\/\/127\.0\.0\.1:1/)]);
});

test('SIGTERM ends the server, and the next start has an equal key', async () => {
  server.kill('SIGTERM');
  const [code] = (await once(server, 'exit')) as [number];
  expect(code).toBe(0);
  server = spawn(process.execPath, [COMMAND, 'serve', '--port', '0', '--json'], { env: environment(), stdio: 'pipe' });
  const [chunk] = (await once(server.stdout as NonNullable<typeof server.stdout>, 'data')) as [Buffer];
  expect(JSON.parse(String(chunk)).apiKey).toBe(started.apiKey);
});
