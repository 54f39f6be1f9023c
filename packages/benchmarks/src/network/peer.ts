// The peer of the network benchmark: a process of the pinned Node with servers on this machine's
// loopback. The sandbox and Node connect to the same servers, which share no process with either.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { environmentForNode, pinnedNode } from '../machine/pinned-node.js';

/** The ports of the peer's servers. */
export interface PeerPorts {
  /** A TCP server that returns each byte. */
  echo: number;
  /** An HTTP server: 1 KiB for each request, with connections that stay open. */
  http: number;
  /** A TCP server that sends `STREAM_BYTES` bytes and ends. */
  stream: number;
  /** A DNS server over UDP: 127.0.0.1 for each name. */
  dns: number;
}

/** The bytes of one stream. */
export const STREAM_BYTES = 64 << 20;

const SERVERS = `
const net = require('node:net');
const http = require('node:http');
const dgram = require('node:dgram');
const listen = (server) => new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));
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
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 14, 16, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat(isA ? [head, question, record] : [head, question]);
};
(async () => {
  const udp = dgram.createSocket('udp4').on('message', (query, from) => udp.send(answer(query), from.port, from.address));
  await new Promise((resolve) => udp.bind(0, '127.0.0.1', resolve));
  const server = http.createServer((request, response) => response.end(block.subarray(0, 1024)));
  server.keepAliveTimeout = 600000;
  const echo = net.createServer({ noDelay: true }, (socket) => socket.on('error', () => {}).pipe(socket));
  const ports = { echo: await listen(echo), http: await listen(server), stream: await listen(net.createServer(stream)), dns: udp.address().port };
  process.send(ports);
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
  const child: ChildProcess = spawn(pinnedNode(), ['-e', SERVERS], {
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
