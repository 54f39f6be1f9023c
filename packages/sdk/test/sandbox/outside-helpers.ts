// Servers of the host machine for the tests of connections out of a runtime, and the edge processes
// of this test process.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';

/**
 * An address of this machine that is not the loopback. An address of the loopback means the runtime
 * itself for a program. `undefined` on a machine that has only the loopback.
 */
export const HOST_ADDRESS: string | undefined = Object.values(networkInterfaces())
  .flat()
  .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address;

/** A server with its port. */
export interface TestServer extends AsyncDisposable {
  readonly port: number;
  /** The number of connections so far. */
  readonly count: () => number;
}

const closed = (server: Server, sockets: ReadonlySet<Socket>): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });

async function listening(server: Server, host = '0.0.0.0'): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let count = 0;
  server.on('connection', (socket) => {
    count++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, count: () => count, [Symbol.asyncDispose]: () => closed(server, sockets) };
}

/** A TCP server that calls `handler` for each connection. Half-open connections stay open. */
export const tcp = (handler: (socket: Socket) => void): Promise<TestServer> =>
  listening(createServer({ allowHalfOpen: true }, handler));

/** A server that returns what it receives, and ends when the client has ended. */
export const echo = (): Promise<TestServer> => tcp((socket) => socket.pipe(socket));

/** A server that greets each client, and listens only on an address of this machine's loopback. */
export const greeting = (text: string, address = '127.0.0.1'): Promise<TestServer> =>
  listening(
    createServer((socket) => socket.end(text)),
    address,
  );

/** An HTTP server that responds with the method and the path. Connections are kept alive. */
export const http = (host?: string): Promise<TestServer> =>
  listening(
    createHttpServer({ keepAliveTimeout: 60_000 }, (request, response) => response.end(`${request.method} ${request.url}`)),
    host,
  );

/** A DNS server with the addresses of names. Any other name does not exist. */
export async function dns(names: Readonly<Record<string, string>>): Promise<TestServer & { asked: string[] }> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, peer) => {
    const [name, end] = readName(query);
    const type = query.readUInt16BE(end);
    asked.push(name);
    const address = names[name];
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(address === undefined ? 0x81_83 : 0x81_80, 2);
    header.writeUInt16BE(1, 4);
    const isAnswer = address !== undefined && type === 1;
    header.writeUInt16BE(isAnswer ? 1 : 0, 6);
    const answer = isAnswer
      ? Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)])
      : Buffer.alloc(0);
    socket.send(Buffer.concat([header, query.subarray(12, end + 4), answer]), peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const close = (): Promise<void> => new Promise((resolve) => socket.close(() => resolve()));
  return { port: socket.address().port, count: () => asked.length, asked, [Symbol.asyncDispose]: close };
}

/** Returns the name in a query, and the place after the name. */
export function readName(query: Buffer): [name: string, end: number] {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return [labels.join('.'), at + 1];
}

/** Returns the pids of the edge processes below this process. */
export function edgePids(): number[] {
  const parents = new Map<number, number>();
  const edges: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    let stat: string;
    try {
      stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    } catch {
      // The process has ended.
      continue;
    }
    const end = stat.lastIndexOf(')');
    const [state, parent] = stat.slice(end + 2).split(' ');
    parents.set(Number(name), Number(parent));
    if (stat.slice(stat.indexOf('(') + 1, end) === 'coldframe-edge' && state !== 'Z') edges.push(Number(name));
  }
  const isBelow = (pid: number): boolean => {
    for (let at = pid; at > 1; at = parents.get(at) ?? 0) if (at === process.pid) return true;
    return false;
  };
  return edges.filter(isBelow);
}
