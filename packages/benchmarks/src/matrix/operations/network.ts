// Operations that reach a server in the guest from the app.

import { once as event } from 'node:events';
import type { Duplex } from 'node:stream';
import type { Lane, LiveProgram } from '../lane.js';
import { type AppCall, appOperation, equals, type Operation, timeCall } from '../operation.js';

const HTTP_SERVER = `
import { createServer } from 'node:http';
const server = createServer((request, response) => response.end('for ' + request.url));
server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

const ECHO_SERVER = `
import { createServer } from 'node:net';
const server = createServer((socket) => socket.on('error', () => {}).pipe(socket));
server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

let lastRequest = 0;

/** Starts a server, and stops the server after the calls. */
async function withServer(lane: Lane, code: string, open: (port: number) => Promise<AppCall>): Promise<AppCall> {
  const server: LiveProgram = await lane.spawn(code);
  const port = Number(await server.line());
  const { once, close } = await open(port);
  return {
    once,
    close: async () => {
      await close?.();
      await server.stop();
    },
  };
}

async function roundTrip(stream: Duplex): Promise<string> {
  const text = `ping ${++lastRequest}`;
  stream.write(text);
  const [data] = (await event(stream, 'data')) as [Uint8Array];
  return Buffer.from(data).toString() === text ? 'equal' : 'different';
}

async function connected(lane: Lane, port: number): Promise<Duplex> {
  const stream = lane.connect(port);
  await event(stream, 'connect');
  return stream;
}

export const networkOperations: readonly Operation[] = [
  appOperation('fetch', 'network', (lane) =>
    withServer(lane, HTTP_SERVER, async (port) => ({
      once: () => {
        const path = `/${++lastRequest}`;
        return timeCall(() => lane.fetch(port, path), equals(`for ${path}`));
      },
    })),
  ),
  appOperation('connect, a round trip, end', 'network', (lane) =>
    withServer(lane, ECHO_SERVER, async (port) => ({
      once: () =>
        timeCall(async () => {
          const stream = await connected(lane, port);
          const answer = await roundTrip(stream);
          stream.end();
          await event(stream, 'close');
          return answer;
        }, equals('equal')),
    })),
  ),
  appOperation('a round trip on a connection', 'network', (lane) =>
    withServer(lane, ECHO_SERVER, async (port) => {
      const stream = await connected(lane, port);
      return {
        once: () => timeCall(() => roundTrip(stream), equals('equal')),
        close: async () => void stream.destroy(),
      };
    }),
  ),
];
