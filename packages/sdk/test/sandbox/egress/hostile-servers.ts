// Servers of an attacker for the tests of egress: a DNS server whose responses a test chooses, and
// listeners that a program must not reach.
//
// Next: `attempts.ts` for the programs.

import { createSocket } from 'node:dgram';
import { EventEmitter, once } from 'node:events';
import { connect, createServer, isIPv6 } from 'node:net';
import { readName, type TestServer } from '../outside-helpers.js';

/** A query to the DNS server. `count` is the number of earlier queries for this name. */
export interface Query {
  name: string;
  type: 'A' | 'AAAA' | 'other';
  count: number;
}

/** A record of a response: an address, or the name that the owner is an alias of. */
export interface ResponseRecord {
  owner?: string;
  address?: string;
  alias?: string;
}

const TYPES = { 1: 'A', 28: 'AAAA' } as const;
const CNAME = 5;
const PROBE = Buffer.from('the probe of the test');

const wire = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label, 'latin1')])),
    Buffer.from([0]),
  ]);

function bytesOf(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::');
  const groups = (text: string): number[] => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [first, last] = [groups(head), groups(tail)];
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => 0);
  return Buffer.from([...first, ...zeros, ...last].flatMap((group) => [group >> 8, group & 255]));
}

function record(name: string, { owner = name, address, alias }: ResponseRecord): Buffer {
  const data = address === undefined ? wire(alias ?? '') : bytesOf(address);
  const type = address === undefined ? CNAME : data.length === 4 ? 1 : 28;
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  // The time to live is 0: each look-up makes a query.
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([wire(owner), head, data]);
}

/**
 * A DNS server on all addresses of this machine. `answer` returns the records for a query, or
 * `undefined` for a name that does not exist. `asked` has the names of all queries.
 */
export async function hostileDns(
  answer: (query: Query) => readonly ResponseRecord[] | undefined,
): Promise<TestServer & { asked: string[] }> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  const counts = new Map<string, number>();
  socket.on('message', (query, peer) => {
    const [name, end] = readName(query);
    const type = TYPES[query.readUInt16BE(end) as keyof typeof TYPES] ?? 'other';
    const count = counts.get(`${type} ${name}`) ?? 0;
    counts.set(`${type} ${name}`, count + 1);
    asked.push(name);
    const answers = answer({ name, type, count });
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(answers === undefined ? 0x81_83 : 0x81_80, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(answers?.length ?? 0, 6);
    const records = (answers ?? []).map((one) => record(name, one));
    socket.send(Buffer.concat([header, query.subarray(12, end + 4), ...records]), peer.port, peer.address);
  });
  socket.bind(0, '0.0.0.0');
  await once(socket, 'listening');
  const close = (): Promise<void> => new Promise((resolve) => socket.close(() => resolve()));
  return { port: socket.address().port, count: () => asked.length, asked, [Symbol.asyncDispose]: close };
}

/** A TCP listener and a UDP socket that no program may reach. */
export interface Victim extends AsyncDisposable {
  readonly port: number;
  readonly udpPort: number;
  /** Returns the number of connections and datagrams that have arrived. */
  reached(): Promise<number>;
}

/** Starts a victim on `host`, with `port` or any free port. */
export async function victim(host = '0.0.0.0', port = 0): Promise<Victim> {
  let [connections, datagrams] = [0, 0];
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => {}).end();
  });
  const probes = new EventEmitter();
  const udp = createSocket('udp4', (bytes) => (bytes.equals(PROBE) ? probes.emit('arrived') : datagrams++));
  server.listen(port, host);
  udp.bind(0, host);
  await Promise.all([once(server, 'listening'), once(udp, 'listening')]);
  const address = server.address() as { port: number };
  const target = host === '0.0.0.0' ? '127.0.0.1' : host;
  const udpPort = udp.address().port;
  return {
    port: address.port,
    udpPort,
    // A queue of the system keeps its order. After the probe's own connection and datagram have
    // arrived, every earlier one has been counted.
    reached: async () => {
      const probe = createSocket('udp4');
      const arrived = once(probes, 'arrived');
      probe.send(PROBE, udpPort, target);
      const socket = connect(address.port, target).resume();
      await Promise.all([arrived, once(socket, 'close')]);
      probe.close();
      connections--;
      return connections + datagrams;
    },
    [Symbol.asyncDispose]: async () => {
      udp.close();
      server.close();
      await once(server, 'close');
    },
  };
}
