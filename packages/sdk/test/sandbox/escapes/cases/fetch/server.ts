// Starts hostile HTTP servers in a guest, and makes cases in which the app sends requests to them.

import { createServer } from 'node:net';
import type { FetchOptions, GuestResponse, NodeRuntime } from '../../../../../src/index.js';
import type { EscapeCase } from '../../harness/case.js';

export const PORT = 3_000;
const TIMEOUT_MS = 20_000;

export const codeOf = (error: unknown): string => {
  const { code, name, cause } = error as { code?: string; name?: string; cause?: { code?: string } };
  return String(code ?? cause?.code ?? name);
};

/** Starts a TCP server. `handler` is the body of a function of `socket` and `request`, the head. */
export async function serve(runtime: NodeRuntime, handler: string): Promise<void> {
  await runtime.spawn(`
import net from 'node:net';
const HEAD = 'HTTP/1.1 200 OK\\r\\n';
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const drained = (socket, bytes) => new Promise((resolve) => socket.write(bytes, resolve));
net.createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', async (data) => { const request = String(data); ${handler} });
}).listen(${PORT});`);
  await runtime.waitForListener({ port: PORT });
}

/** Sends one request, and returns its outcome as text. */
export const outcome = (
  runtime: NodeRuntime,
  show: (response: GuestResponse) => unknown,
  options: FetchOptions = {},
): Promise<string> =>
  runtime
    .fetch(PORT, options.path ?? '/', { timeoutMs: TIMEOUT_MS, ...options })
    .then((response) => String(show(response)), codeOf);

/** A case in which a server replies with `handler`. The app must get `expected`. */
export const hostile = (
  name: string,
  handler: string,
  expected: string | RegExp,
  show: (response: GuestResponse) => unknown = ({ status, body }) => `${status} ${body}`,
  options: FetchOptions = {},
): EscapeCase => ({
  name: `fetch: ${name}`,
  attack: async (runtime) => {
    await serve(runtime, handler);
    const first = await outcome(runtime, show, options);
    // The app's client must work for a further request to another server.
    const other = await runtime.exec(`
import http from 'node:http';
const server = http.createServer((request, response) => response.end('next')).listen(3001);
await new Promise((resolve) => server.once('listening', resolve));
const response = await fetch('http://127.0.0.1:3001/');
console.log(await response.text());
process.exit();`);
    return `${first} | ${other.stdout.trim()}`;
  },
  expected: typeof expected === 'string' ? `${expected} | next` : expected,
});

/** Runs `work` with a server of the host machine that counts connections. */
export async function withHostServer<T>(work: (port: number, connections: () => number) => Promise<T>): Promise<T> {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await work((server.address() as { port: number }).port, () => connections);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}
