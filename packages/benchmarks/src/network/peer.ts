// The peer of the network benchmark: a process of the pinned Node with servers at an address of
// this machine. The sandbox and Node connect to the same servers, which share no process with
// either. The address is not one of the loopback, because a loopback address means the runtime
// itself for a program. The system delivers such packets within the machine.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import type { NetworkOptions } from 'coldframe';
import { environmentForNode, pinnedNode } from '../machine/pinned-node.js';
import { CERTIFICATE, KEY } from './certificate.js';

/** The address and the ports of the peer's servers. */
export interface PeerPorts {
  host: string;
  /** A TCP server that returns each byte. */
  echo: number;
  /** An HTTP server: 1 KiB for each request, with connections that stay open. */
  http: number;
  /** A TCP server that sends `STREAM_BYTES` bytes and ends. */
  stream: number;
  /** An HTTPS server: 1 KiB for each request, then the end of the connection. */
  https: number;
  /** A TLS server that sends `STREAM_BYTES` bytes and ends. */
  secureStream: number;
  /** A TLS server that returns each byte. */
  secureEcho: number;
  /** A DNS server over UDP: `host` for each name. */
  dns: number;
}

/** The options of a runtime that reaches the peer. */
export function towardsPeer({ host, dns, ...ports }: PeerPorts): NetworkOptions {
  const { echo, http, stream, https, secureStream, secureEcho } = ports;
  return {
    private: [echo, http, stream, https, secureStream, secureEcho].map((port) => `${host}:${port}`),
    allow: ['*.bench.test:80'],
    dns: { servers: [`${host}:${dns}`] },
    limits: { connectsPerSecond: 100_000, bytesPerSecond: 100_000_000_000 },
  };
}

/** The bytes of one stream. */
export const STREAM_BYTES = 64 << 20;

const serversAt = (host: string): string => `
const net = require('node:net');
const http = require('node:http');
const https = require('node:https');
const tls = require('node:tls');
const identity = ${JSON.stringify({ key: KEY, cert: CERTIFICATE })};
const dgram = require('node:dgram');
const listen = (server) => new Promise((resolve) => server.listen(0, '${host}', () => resolve(server.address().port)));
const block = Buffer.alloc(65536, 'x');
const stream = (socket) => {
  let left = ${STREAM_BYTES};
  const more = () => {
    while (left > 0) {
      left -= block.length;
      if (!socket.write(block)) return void socket.once('drain', more);
    }
    socket.end();
  };
  socket.on('error', () => {});
  more();
};
const answer = (query) => {
  let end = 12;
  while (query[end] !== 0) end += query[end] + 1;
  const question = query.subarray(12, end + 5);
  const isA = query.readUInt16BE(end + 1) === 1;
  const head = Buffer.from([query[0], query[1], 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0]);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 14, 16, 0, 4, ${host.split('.').join(', ')}]);
  return Buffer.concat(isA ? [head, question, record] : [head, question]);
};
(async () => {
  const udp = dgram.createSocket('udp4').on('message', (query, from) => udp.send(answer(query), from.port, from.address));
  await new Promise((resolve) => udp.bind(0, '${host}', resolve));
  const server = http.createServer((request, response) => response.end(block.subarray(0, 1024)));
  server.keepAliveTimeout = 600000;
  const echo = net.createServer({ noDelay: true }, (socket) => socket.on('error', () => {}).pipe(socket));
  const ports = { echo: await listen(echo), http: await listen(server), stream: await listen(net.createServer(stream)) };
  const secure = https.createServer(identity, (request, response) => {
    response.writeHead(200, { connection: 'close' }).end(block.subarray(0, 1024));
  });
  Object.assign(ports, { https: await listen(secure), secureStream: await listen(tls.createServer(identity, stream)) });
  const secureEcho = tls.createServer(identity, (socket) => socket.on('error', () => {}).pipe(socket));
  ports.secureEcho = await listen(secureEcho);
  process.send({ host: '${host}', ...ports, dns: udp.address().port });
  process.on('disconnect', () => process.exit());
})();
`;

/** A running peer. */
export interface Peer {
  readonly ports: PeerPorts;
  close(): Promise<void>;
}

/** Starts the peer. */
export async function startPeer(): Promise<Peer> {
  const host = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
  if (host === undefined) throw new Error('this machine has only a loopback, and the benchmark needs another IPv4 address');
  const child: ChildProcess = spawn(pinnedNode(), ['-e', serversAt(host)], {
    env: environmentForNode(),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [ports] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the servers of the benchmark have ended'))),
  ])) as [PeerPorts];
  return {
    ports,
    close: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
