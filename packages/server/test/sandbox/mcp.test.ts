// Tests `/mcp` with the official client of the Model Context Protocol over HTTP.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client as ServerClient } from '../../dist/client/client.js';
import { type Harness, KEY, startServer } from './harness.js';

let server: Harness;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

interface Tool {
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
}

async function withClient(
  headers: Record<string, string>,
  work: (call: (name: string, input?: object) => Promise<Tool>) => Promise<void>,
) {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } });
  await client.connect(transport);
  try {
    await work(async (name, input = {}) => (await client.callTool({ name, arguments: { ...input } })) as Tool);
    await transport.terminateSession();
  } finally {
    await client.close();
  }
}

test('the sessions of a client are sandboxes of its tenant, and end with the client', async () => {
  const own = new ServerClient({ url: server.url, apiKey: KEY });
  await withClient({ 'x-api-key': KEY }, async (call) => {
    const ran = await call('run_code', { code: 'console.log(1 + 1, process.cwd())' });
    expect(ran.structuredContent).toMatchObject({ exitCode: 0, stdout: '2 /home/user\n' });
    await call('write_file', { path: '/home/user/a.txt', content: 'kept' });
    expect((await call('list_files')).structuredContent).toMatchObject({ entries: [{ name: 'a.txt', type: 'file' }] });
    const { structuredContent: copy } = await call('clone_session');
    const read = await call('read_file', { path: '/home/user/a.txt', session: copy?.['session'] });
    expect(read.structuredContent).toMatchObject({ content: 'kept' });
    expect((await own.list()).map(({ metadata }) => metadata)).toEqual([{ client: 'mcp' }, { client: 'mcp' }]);
    const { structuredContent: taken } = await call('take_snapshot', { name: 'before' });
    await call('write_file', { path: '/home/user/a.txt', content: 'changed' });
    await call('rollback_session', { snapshot: taken?.['id'] });
    expect((await call('read_file', { path: '/home/user/a.txt' })).structuredContent).toMatchObject({ content: 'kept' });
  });
  await expect.poll(() => own.list()).toEqual([]);
});

test('the key may be a bearer token', async () => {
  await withClient({ authorization: `Bearer ${KEY}` }, async (call) => {
    expect((await call('run_shell', { command: 'echo out' })).structuredContent).toMatchObject({ stdout: 'out\n' });
  });
});

test('no request is answered without a key', async () => {
  for (const method of ['GET', 'POST', 'DELETE']) {
    const body = method === 'POST' ? { body: '{}', headers: { 'content-type': 'application/json' } } : {};
    expect((await fetch(`${server.url}/mcp`, { method, ...body })).status).toBe(401);
  }
});

test('a client of one tenant is unknown to another tenant', async () => {
  const post = (headers: Record<string, string>, message: object) =>
    fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    });
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const begun = await post({ 'x-api-key': KEY }, { method: 'initialize', params });
  const id = begun.headers.get('mcp-session-id') as string;
  await begun.text();
  expect((await post({ 'x-api-key': KEY, 'mcp-session-id': id }, { method: 'ping' })).status).toBe(200);
  expect((await post({ 'x-api-key': 'other', 'mcp-session-id': id }, { method: 'ping' })).status).toBe(404);
});

test('a server has at most 64 clients of a tenant', async () => {
  const begin = () =>
    fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'x-api-key': 'other' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
      }),
    });
  for (let count = 0; count < 64; count++) expect((await begin()).status).toBe(200);
  const refused = await begin();
  expect([refused.status, ((await refused.json()) as { error: { message: string } }).error.message]).toEqual([
    429,
    'The server has 64 clients',
  ]);
});
