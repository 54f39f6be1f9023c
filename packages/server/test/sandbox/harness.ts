// A server of a test, on a free port of the loopback, and a connection of E2B's client.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type ConnectionOpts, Sandbox, type SandboxOpts } from 'e2b';
import { createServer, type Server, type ServerOptions } from '../../dist/index.js';

/** The key of the tenant `one`. */
export const KEY = `e2b_${'0'.repeat(40)}`;
/** The key of the tenant `two`. */
export const OTHER_KEY = 'other';

/** A running server. */
export interface Harness {
  url: string;
  port: number;
  directory: string;
  connection: ConnectionOpts;
  /** Replaces the server with a server of the same folder. Runs `between` while no server runs. */
  restart(between?: () => Promise<void>): Promise<void>;
  /** Sends a request with the key of the tenant `one`, and reads JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Runs `use` with a new sandbox, which ends afterwards. */
  withSandbox<T>(use: (sandbox: Sandbox) => Promise<T>, options?: SandboxOpts & { template?: string }): Promise<T>;
  close(): Promise<void>;
}

/** A response of the control plane. */
export interface Reply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests compare the fields
  body: any;
}

/** Starts a server. */
export async function startServer(options: Partial<ServerOptions> = {}): Promise<Harness> {
  const directory = await mkdtemp(join(tmpdir(), 'coldframe-server-'));
  const apiKeys = [
    { key: KEY, tenant: 'one' },
    { key: OTHER_KEY, tenant: 'two' },
  ];
  let server: Server;
  const open = async (): Promise<void> => {
    server = await createServer({ directory, apiKeys, ...options });
    const { port } = await server.listen(harness.port ?? 0);
    const url = `http://127.0.0.1:${port}`;
    Object.assign(harness, { port, url, connection: { apiKey: KEY, apiUrl: url, sandboxUrl: url } });
  };
  const harness = {
    directory,
    restart: async (between?: () => Promise<void>) => {
      await server.close();
      await between?.();
      await open();
    },
    call: async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
      const json: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
      const response = await fetch(harness.url + path, {
        method,
        headers: { 'x-api-key': KEY, ...json, ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const content = await response.text();
      return { status: response.status, headers: response.headers, body: content === '' ? undefined : JSON.parse(content) };
    },
    withSandbox: async <T>(use: (sandbox: Sandbox) => Promise<T>, own: SandboxOpts = {}) => {
      const sandbox = await Sandbox.create({ ...harness.connection, ...own });
      try {
        return await use(sandbox);
      } finally {
        await sandbox.kill();
      }
    },
    close: async () => {
      await server.close();
      await rm(directory, { recursive: true });
    },
  } as Harness;
  await open();
  return harness;
}

/** A response of a server in a sandbox. */
export interface PortReply {
  status: number;
  body: string;
  response: IncomingMessage;
}

/** Sends a request to a port of a sandbox by its host name. */
export function requestPort(
  { port: at }: Harness,
  host: string,
  {
    path = '/',
    method = 'GET',
    headers = {},
    body,
  }: { path?: string; method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<PortReply> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: at, path, method, headers: { host, ...headers } });
    sent.on('error', reject);
    sent.on('response', (response) => {
      text(response).then((content) => resolve({ status: response.statusCode ?? 0, body: content, response }), reject);
    });
    sent.end(body);
  });
}

const PROGRAM = fileURLToPath(new URL('server-process.mjs', import.meta.url));

/** A server in a process of its own, which a test can kill. */
export interface ServerProcess {
  child: ChildProcess;
  port: number;
  connection: ConnectionOpts & { apiUrl: string };
}

/** Starts a server in a process of its own. */
export async function startProcess(directory: string): Promise<ServerProcess> {
  const child = spawn(process.execPath, [PROGRAM, directory, KEY], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  const port = Number(String(line));
  const url = `http://127.0.0.1:${port}`;
  return { child, port, connection: { apiKey: KEY, apiUrl: url, sandboxUrl: url } };
}

/** Kills the process of a server, and waits for its end. */
export async function killProcess({ child }: ServerProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
