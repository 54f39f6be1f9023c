// Kills the edge process at 20 times of a busy run. Each pending operation ends with its result or
// one of the documented codes, and every kind of operation then succeeds again.

import { expect, test } from 'vitest';
import { NodeRuntime, Sidecar } from '../../../src/index.js';
import { echo, edgePids, HOST_ADDRESS, http } from '../outside-helpers.js';
import { disposeAll, until } from '../snapshot-helpers.js';
import { openPort } from './attempts.js';
import { hostileDns } from './hostile-servers.js';

const KILLS = 20;
const RUNTIMES = 3;
const SEED = 20_261_123;
/** The codes of operations that the end of the edge process interrupts. */
const INTERRUPTED = /^(ECONNRESET|EPIPE|EAI_AGAIN|ETIMEOUT|UND_ERR_SOCKET|ERR_EDGE_ENDED)$/;
const GUEST_KINDS = ['fetch', 'kept', 'stream', 'lookUp', 'query'];
const HOST_KINDS = ['check', 'flows', 'update'];

/** Returns a sequence of numbers from 0 to 1 that depends on the seed only. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

// Each loop repeats an operation of one kind, and prints the kind and the result.
const program = (host: string, ports: { http: number; echo: number }): string => `
  import dns from 'node:dns/promises';
  import http from 'node:http';
  import net from 'node:net';
  const loop = async (kind, once) => {
    for (let round = 0; ; round++) {
      const result = await once(round).then(() => 'ok', (error) => error.code ?? error.cause?.code ?? String(error));
      console.log(kind, result);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const agent = new http.Agent({ keepAlive: true });
  const kept = () => new Promise((resolve, reject) => {
    http.get({ host: '${host}', port: ${ports.http}, agent }, (response) => {
      response.resume().on('end', resolve).on('error', reject);
    }).on('error', reject);
  });
  const piece = Buffer.alloc(100_000, 'x');
  const stream = () => new Promise((resolve, reject) => {
    let count = 0;
    const socket = net.connect(${ports.echo}, '${host}').on('error', reject).on('end', resolve);
    socket.on('data', (data) => { count += data.length; if (count === piece.length) socket.end(); });
    socket.write(piece);
  });
  const options = { headers: { connection: 'close' } };
  void loop('fetch', () => fetch('http://one.example.com:${ports.http}/', options).then((response) => response.text()));
  void loop('kept', kept);
  void loop('stream', stream);
  void loop('lookUp', (round) => dns.lookup('l' + (round % 40) + '.example.com'));
  void loop('query', (round) => dns.resolve4('q' + (round % 40) + '.example.com'));`;

test.skipIf(HOST_ADDRESS === undefined)(`operations recover from the end of the edge process, ${KILLS} times`, async () => {
  const host = HOST_ADDRESS ?? '';
  await using web = await http();
  await using stream = await echo();
  await using names = await hostileDns(({ type }) => (type === 'A' ? [{ address: host }] : []));
  const options = openPort(web.port, names.port);
  const network = { ...options, private: [`${host}:${web.port}`, `${host}:${stream.port}`] };
  await until(() => edgePids().length === 0);
  const sidecar = await Sidecar.spawn();
  const runtimes = await Promise.all(Array.from({ length: RUNTIMES }, () => NodeRuntime.create({ sidecar, network })));
  /** The number of results, and for each kind of each runtime the number at its last success. */
  let results = 0;
  const succeeded = new Map<string, number>();
  const codes = new Set<string>();
  const report = (who: number, kind = '', result = ''): void => {
    results++;
    if (result === 'ok') succeeded.set(`${who} ${kind}`, results);
    else codes.add(result);
  };
  let isOver = false;
  const repeat = async (who: number, kind: string, once: (runtime: NodeRuntime) => Promise<unknown>): Promise<void> => {
    while (!isOver) {
      report(
        who,
        kind,
        await once(runtimes[who] as NodeRuntime).then(
          () => 'ok',
          ({ code }) => String(code),
        ),
      );
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const workers = runtimes.flatMap((_, who) => [
    repeat(who, 'check', (runtime) => runtime.network.check('http://one.example.com/')),
    repeat(who, 'flows', async (runtime) => {
      for await (const flow of runtime.network.flows()) expect(flow.port).toBeGreaterThan(0);
    }),
    repeat(who, 'update', (runtime) => runtime.network.update({ deny: ['other.example.com'] })),
  ]);
  const programs = await Promise.all(
    runtimes.map((runtime, who) => {
      let rest = '';
      const onStdout = (bytes: Uint8Array): void => {
        const lines = (rest + Buffer.from(bytes)).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) report(who, ...line.split(' '));
      };
      return runtime.spawn(program(host, { http: web.port, echo: stream.port }), { onStdout });
    }),
  );
  const all = runtimes.flatMap((_, who) => [...GUEST_KINDS, ...HOST_KINDS].map((kind) => `${who} ${kind}`));
  const haveSucceeded = (since: number) => () => all.every((one) => (succeeded.get(one) ?? -1) > since);
  await until(haveSucceeded(0));
  const random = sequence(SEED);
  const killed = new Set<number>();
  for (let round = 0; round < KILLS; round++) {
    const at = results + Math.floor(random() * 400);
    await until(() => results >= at);
    const [pid, ...others] = edgePids();
    expect(others).toEqual([]);
    if (pid === undefined || killed.has(pid)) throw new Error('no new edge process');
    process.kill(pid, 'SIGKILL');
    killed.add(pid);
    // Every kind succeeds after the kill, so nothing waits for the process that has ended.
    await until(haveSucceeded(results));
  }
  expect(killed.size).toBe(KILLS);
  expect([...codes].filter((code) => !INTERRUPTED.test(code))).toEqual([]);
  expect(codes.size).toBeGreaterThan(0);
  isOver = true;
  await Promise.all(workers);
  await Promise.all(programs.map((one) => one.kill('SIGKILL')));
  await disposeAll(runtimes);
  await sidecar.dispose();
  await until(() => edgePids().length === 0);
});
