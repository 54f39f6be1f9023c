// Tests `coldframe mcp` with the official client of the Model Context Protocol over a child
// process.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, test } from 'vitest';
import { COMMAND, start } from './command.js';

interface Tool {
  isError: boolean;
  data: Record<string, unknown>;
  text: string;
}

type Call = (name: string, args?: Record<string, unknown>) => Promise<Tool>;

async function withServer(args: readonly string[], work: (call: Call, client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [COMMAND, 'mcp', ...args] }));
  try {
    // The client checks the structured content with the output schema of a listed tool.
    await client.listTools();
    await work(async (name, input = {}) => {
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: input });
      const [{ text }] = content as [{ text: string }];
      return { isError: isError === true, data: structuredContent as Record<string, unknown>, text };
    }, client);
  } finally {
    await client.close();
  }
}

test('lists tools with schemas and descriptions', () =>
  withServer([], async (_, client) => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'run_code',
      'run_shell',
      'write_file',
      'read_file',
      'list_files',
      'create_session',
      'list_sessions',
      'close_session',
      'clone_session',
      'take_snapshot',
      'rollback_session',
      'list_snapshots',
    ]);
    for (const { description, inputSchema, outputSchema } of tools) {
      expect([description?.length, inputSchema.type, outputSchema?.type]).toEqual([expect.any(Number), 'object', 'object']);
    }
    expect(client.getInstructions()).toContain('sandbox');
  }));

test('runs code and shell commands, and shares files among them', () =>
  withServer(['--env', 'A=1'], async (call) => {
    const code = 'const n: number = 2; console.log(n, process.env.A, process.argv[1]); process.exit(3)';
    const program = await call('run_code', { code, language: 'typescript', args: ['x'] });
    expect(program).toMatchObject({ isError: false, data: { exitCode: 3, stdout: '2 1 x\n', stderr: '' } });
    expect(program.text).toBe('stdout:\n2 1 x\nexit code: 3');
    expect((await call('write_file', { path: '/workspace/a.txt', content: 'ä' })).data).toEqual({
      path: '/workspace/a.txt',
      bytes: 2,
    });
    expect((await call('run_shell', { command: 'cat a.txt; printf "\\377" > b.bin' })).data).toMatchObject({
      stdout: 'ä',
      exitCode: 0,
    });
    expect(await call('read_file', { path: '/workspace/a.txt' })).toMatchObject({
      data: { content: 'ä', encoding: 'utf8' },
      text: 'ä',
    });
    expect((await call('list_files')).data).toMatchObject({ entries: [{ name: 'a.txt', type: 'file' }, { name: 'b.bin' }] });
    await call('run_code', { code: 'import { writeFileSync } from "node:fs"; writeFileSync("b.bin", Buffer.from([255]))' });
    expect((await call('read_file', { path: '/workspace/b.bin' })).data).toMatchObject({ content: '/w==', encoding: 'base64' });
  }));

test('errors have a code and a remedy', () =>
  withServer(['--timeout', '300', '--max-sessions', '1'], async (call) => {
    const endless = await call('run_code', { code: 'console.log(1); for (;;);' });
    expect(endless).toMatchObject({
      isError: true,
      data: { exitCode: 124, stdout: '1\n', error: { code: 'ERR_TIMEOUT', remedy: expect.any(String) } },
    });
    expect(endless.text).toMatch(/^ERR_TIMEOUT: .*\nremedy: /);
    for (const [name, args, code] of [
      ['read_file', { path: '/none' }, 'ENOENT'],
      ['read_file', { path: 'relative' }, 'ERR_INVALID_OPTION'],
      ['run_code', { code: '1', session: 'none' }, 'ERR_SESSION_NOT_FOUND'],
      ['rollback_session', { snapshot: 'none' }, 'ERR_SNAPSHOT_NOT_FOUND'],
      ['create_session', {}, 'ERR_SESSION_LIMIT'],
    ] as const) {
      const { isError, data } = await call(name, args);
      expect([isError, data]).toMatchObject([true, { error: { code, remedy: expect.any(String) } }]);
    }
    expect((await call('run_code', { code: 5 })).isError).toBe(true);
  }));

test('sessions are separate, and can be cloned, rolled back and closed', () =>
  withServer([], async (call) => {
    const read = (session: string) => call('run_shell', { command: 'cat /workspace/f', session });
    const { session } = (await call('create_session')).data as { session: string };
    await call('write_file', { path: '/workspace/f', content: 'one', session });
    expect((await call('run_shell', { command: 'ls /workspace' })).data).toMatchObject({ stdout: '' });
    const snapshot = (await call('take_snapshot', { name: 'first', session })).data;
    const clone = ((await call('clone_session', { session })).data as { session: string }).session;
    await call('write_file', { path: '/workspace/f', content: 'two', session });
    expect([(await read(session)).data, (await read(clone)).data]).toMatchObject([{ stdout: 'two' }, { stdout: 'one' }]);
    expect((await call('rollback_session', { snapshot: 'first', session })).isError).toBe(false);
    expect((await read(session)).data).toMatchObject({ stdout: 'one' });
    const { snapshots } = (await call('list_snapshots')).data as { snapshots: { id: string }[] };
    expect(snapshots.map(({ id }) => id)).toContain(snapshot['id']);
    expect((await call('list_sessions')).data).toMatchObject({
      sessions: [{ session, idle: true }, { session: 'default' }, { session: clone }],
    });
    await call('close_session', { session: clone });
    expect(await read(clone)).toMatchObject({ isError: true });
  }));

test('a cancelled call ends its program', () =>
  withServer([], async (call, client) => {
    const controller = new AbortController();
    const code = 'import { writeFileSync } from "node:fs"; writeFileSync("/workspace/begun", ""); for (;;);';
    const cancelled = client.callTool({ name: 'run_code', arguments: { code } }, undefined, { signal: controller.signal });
    while ((await call('read_file', { path: '/workspace/begun' })).isError);
    controller.abort('enough');
    await expect(cancelled).rejects.toThrow('enough');
    while (((await call('list_sessions')).data as { sessions: { idle: boolean }[] }).sessions.some(({ idle }) => !idle));
  }));

test('an unused session is disposed', () =>
  withServer(['--idle', '1'], async (call) => {
    const { session } = (await call('create_session')).data as { session: string };
    const ids = async () =>
      ((await call('list_sessions')).data as { sessions: { session: string }[] }).sessions.map((one) => one.session);
    expect(await ids()).toEqual([session]);
    while ((await ids()).length > 0);
    expect((await call('run_code', { code: '1', session })).data).toMatchObject({ error: { code: 'ERR_SESSION_NOT_FOUND' } });
  }));

test('the server ends when its client closes stdin, and with a signal', async () => {
  const closed = start(['mcp']);
  closed.child.stdin?.end();
  expect(await closed.ended).toEqual({ code: 0, stdout: '', stderr: '' });
  const signalled = start(['mcp']);
  signalled.child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await signalled.until('"id":1');
  signalled.child.kill('SIGTERM');
  expect((await signalled.ended).code).toBe(143);
});
