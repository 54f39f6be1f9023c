// Provides guest servers and functions for the tests of a runtime's network.

import type { GuestProcess, NodeRuntime } from '../../src/index.js';

export const PORT = 3000;

/**
 * Returns the code of an HTTP server. `handler` is the body of a function of `request` and
 * `response`.
 */
export const httpServer = (handler: string, port = PORT): string => `
  import http from 'node:http';
  http.createServer((request, response) => { ${handler} }).listen(${port});`;

/** Returns the code of a TCP server. `handler` is the body of a function of `socket`. */
export const tcpServer = (handler: string, port = PORT): string => `
  import net from 'node:net';
  net.createServer({ allowHalfOpen: true }, (socket) => { socket.on('error', (error) => console.log(error.code)); ${handler} })
    .listen(${port});`;

/** Starts a server in the runtime and waits until the server listens. */
export async function serve(runtime: NodeRuntime, code: string, port = PORT): Promise<GuestProcess> {
  const server = await runtime.spawn(code);
  await runtime.waitForListener({ port });
  return server;
}

export const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error) => error.code ?? String(error),
  );

export async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
