// Opens and ends connections in every way. Afterwards no socket, descriptor, flow or byte remains,
// and the memory of the processes has not grown. `crates/edge/tests/churn.rs` tests the edge alone.
//
// `pnpm test` makes 2,000 connections, and `pnpm test:long` makes 100,000.

import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { NodeRuntime, Sidecar } from '../../../src/index.js';
import { repetitions } from '../../repetitions.js';
import { edgePids, HOST_ADDRESS, type TestServer, tcp } from '../outside-helpers.js';
import { descriptorsOf, heapBytes } from '../processes.js';
import { until } from '../snapshot-helpers.js';
import { hostileDns, victim } from './hostile-servers.js';

const HOST = HOST_ADDRESS ?? '';
const CONNECTIONS = repetitions(2_000, 100_000);
/** The connections of one program. */
const BATCH = 50;
const MEGABYTE = 1 << 20;
/** The port of a connection is not free for a minute, so the connections have several servers. */
const SERVERS = 6;

/** The first byte of a connection chooses how the server ends the connection. */
function serve(socket: Socket): void {
  socket.once('data', ([act]: Buffer) => {
    if (act === 1) socket.resetAndDestroy();
    else if (act === 2) socket.end('the last bytes');
    else if (act === 3) socket.destroy();
  });
  socket.resume().on('end', () => socket.end());
}

const START = `
  import net from 'node:net';
  const connect = (port, host = '${HOST}') => net.connect({ port, host, allowHalfOpen: true }).on('error', () => {});
  const closed = (socket) => new Promise((resolve) => socket.on('close', resolve));
  const act = (port, number, then = () => {}) => {
    const socket = connect(port);
    socket.on('connect', () => { socket.write(Buffer.from([number])); then(socket); }).resume();
    return socket;
  };`;

/** The ends of a connection. Each is an expression of the port that returns the socket. */
const ENDS: Readonly<Record<string, string>> = {
  'FIN of the program': `act(port, 0, (socket) => socket.end())`,
  'RST of the program': `act(port, 0, (socket) => setImmediate(() => socket.resetAndDestroy()))`,
  'RST of the server': `act(port, 1, (socket) => socket.on('end', () => socket.end()))`,
  'FIN of the server': `act(port, 2, (socket) => socket.on('end', () => socket.end('a reply')))`,
  'close of the server': `act(port, 3, (socket) => socket.on('end', () => socket.end()))`,
  'destruction while the connection opens': `act(port, 0).destroy()`,
  'destruction with unread bytes': `act(port, 2, (socket) => socket.pause().on('readable', () => socket.destroy()))`,
  'a timeout': `act(port, 0, (socket) => socket.setTimeout(1, () => socket.destroy()))`,
  'a refusal of the peer': `connect(closedPort)`,
  'a refusal of the policy': `connect(refusedPort)`,
  'a lookup': `connect(port, 'n' + (number % 50) + '.example.com').on('connect', function () { this.destroy(); })`,
};

test.skipIf(HOST_ADDRESS === undefined)(
  `${CONNECTIONS} connections of every end leave nothing behind`,
  async () => {
    let open = 0;
    const servers: TestServer[] = [];
    const listen = (): Promise<TestServer> =>
      tcp((socket) => {
        open++;
        socket.on('close', () => open--);
        serve(socket);
      });
    for (let at = 0; at < SERVERS; at++) servers.push(await listen());
    const free = await listen();
    await free[Symbol.asyncDispose]();
    await using refused = await victim();
    await using names = await hostileDns(({ type }) => (type === 'A' ? [{ address: HOST }] : []));
    const network = {
      allow: ['*.example.com:*'],
      private: [...servers, free].map(({ port }) => `${HOST}:${port}`),
      dns: { servers: [`127.0.0.1:${names.port}`] },
      limits: { connectsPerSecond: 100_000 },
    };
    const sidecar = await Sidecar.spawn();
    const runtime = await NodeRuntime.create({ sidecar, network });
    const ports = servers.map(({ port }) => port);
    const setup = `${START} const closedPort = ${free.port}; const refusedPort = ${refused.port};`;

    const batch = async (end: string, round: number): Promise<void> => {
      const { stdout, stderr } = await runtime.exec(`${setup}
      const one = (number) => { const port = ${ports[round % SERVERS]}; return closed(${end}); };
      await Promise.all(Array.from({ length: ${BATCH} }, (_, number) => one(number)));
      console.log('ended');`);
      expect(stdout + stderr).toBe('ended\n');
    };
    const HOLD = `${setup}
    const all = Array.from({ length: ${BATCH} }, () => act(${ports[0]}, 0));
    await Promise.all(all.map((socket) => new Promise((resolve) => socket.on('connect', resolve))));
    console.log('open');`;
    const killed = async (): Promise<void> => {
      let text = '';
      const held = await runtime.spawn(HOLD, { onStdout: (bytes) => (text += Buffer.from(bytes)) });
      await until(() => text === 'open\n');
      await held.kill('SIGKILL');
      await held.wait();
    };
    const disposed = async (): Promise<void> => {
      const other = await NodeRuntime.create({ sidecar, network });
      let text = '';
      await other.spawn(HOLD, { onStdout: (bytes) => (text += Buffer.from(bytes)) });
      await until(() => text === 'open\n');
      await other.dispose();
    };
    const acts = [...Object.values(ENDS).map((end) => (round: number) => batch(end, round)), killed, disposed];
    const flows = async (): Promise<number> => {
      let count = 0;
      for await (const _ of runtime.network.flows()) count++;
      return count;
    };
    const settled = async (): Promise<void> => {
      await until(() => open === 0);
      await until(async () => (await flows()) === 0);
    };

    try {
      // The first round opens what stays open.
      for (const act of acts) await act(0);
      await settled();
      const [edge = 0] = edgePids();
      const pids = [sidecar.pid, edge];
      const descriptors = pids.map(descriptorsOf);
      const heaps = pids.map(heapBytes);
      for (let count = 0, round = 1; count < CONNECTIONS; round++) {
        for (const act of acts) await act(round);
        count += acts.length * BATCH;
      }
      await settled();
      const resources = await runtime.getResourceSnapshot();
      expect(resources).toMatchObject({ sockets: 0, descriptors: 0, operations: 0, bufferedBytes: 0, processes: 0 });
      expect(edgePids()).toEqual([edge]);
      expect(pids.map(descriptorsOf)).toEqual(descriptors);
      const growth = pids.map((pid, at) => (heapBytes(pid) - (heaps[at] ?? 0)) / MEGABYTE);
      // A leaked flow has 500 bytes or more in each process: 1 MB after 2,000, 50 MB after 100,000.
      // Without a leak, an allocator keeps some free memory.
      expect(Math.max(...growth), `growth in megabytes: ${growth}`).toBeLessThan(repetitions(4, 8));
      expect(await refused.reached()).toBe(0);
    } finally {
      await runtime.dispose();
      await sidecar.dispose();
      for (const server of servers) await server[Symbol.asyncDispose]();
    }
  },
  repetitions(60_000, 1_200_000),
);
