// The events of a private network: connections that were opened, closed and denied.

import { describe, expect, test } from 'vitest';
import { type MemberEvents, Network, NodeRuntime, Sidecar } from '../../src/index.js';
import { codeOf, serve, tcpServer } from './network-helpers.js';

const SIDECARS = [
  { name: 'process', open: () => Sidecar.spawn() },
  { name: 'embedded', open: () => Sidecar.embedded() },
  { name: 'embedded inline', open: () => Sidecar.embedded({ inlineBudgetMs: 5 }) },
];

const PORT = 5432;

/** Connects to `db`, sends five bytes, and ends after the response. */
const talk = (port: number): string => `
  import net from 'node:net';
  net.connect(${port}, 'db').on('error', ({ code }) => console.log(code)).resume().end('hello');`;

/** Starts a server and a client as members, and records the events of their network. */
async function shop(sidecar: Sidecar) {
  const network = await Network.create({ sidecar, name: 'shop', rules: [{ from: 'web', to: 'db', ports: [PORT, 80] }] });
  const [db, web] = [
    await NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'db' }] } }),
    await NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'web' }] } }),
  ];
  await serve(db, tcpServer(`socket.end('rows');`, PORT), PORT);
  const events: MemberEvents[keyof MemberEvents][] = [];
  const stops: (() => Promise<void>)[] = [];
  for (const type of ['open', 'close', 'denied'] as const) stops.push(await network.on(type, (event) => events.push(event)));
  const stop = async (): Promise<void> => {
    for (const one of stops) await one();
  };
  return { network, db, web, events, stop };
}

const about = { from: 'web', to: 'db', port: PORT, time: expect.any(Number) };

describe.each(SIDECARS)('$name', ({ open }) => {
  test('reports connections that were opened, closed and denied', async () => {
    await using sidecar = await open();
    const { web, events, stop } = await shop(sidecar);
    const from = Date.now();
    await web.exec(talk(PORT));
    expect((await web.exec(talk(81))).stdout).toBe('EACCES\n');
    expect((await web.exec(talk(80))).stdout).toBe('ECONNREFUSED\n');
    await stop();
    expect(events).toEqual([
      { type: 'open', ...about },
      { type: 'close', ...about, sent: 5, received: 4, durationMs: expect.any(Number) },
      { type: 'denied', ...about, port: 81, reason: 'not-allowed' },
    ]);
    for (const event of events) {
      const time = 'time' in event ? event.time : Number.NaN;
      expect(time).toBeGreaterThanOrEqual(from - 1);
      expect(time).toBeLessThanOrEqual(Date.now() + 1);
    }
    await web.exec(talk(PORT));
    expect(events).toHaveLength(3);
  });

  test('reports the reason why a connection was reset', async () => {
    await using sidecar = await open();
    const { network, db, web, events, stop } = await shop(sidecar);
    const port = 80;
    await serve(db, tcpServer(`socket.on('data', () => socket.resetAndDestroy()); socket.write('x');`, port), port);
    const hold = async (send: boolean): Promise<void> => {
      const held = await web.spawn(`
        import net from 'node:net';
        const socket = net.connect(${port}, 'db').on('error', ({ code }) => console.log(code));
        socket.once('data', () => { console.log('open'); ${send ? `socket.write('x');` : ''} });`);
      for await (const chunk of held.stdout) if (Buffer.from(chunk).includes(send ? 'ECONNRESET' : 'open')) break;
    };
    await hold(true);
    await hold(false);
    await network.setRules([]);
    await network.setRules(undefined);
    await hold(false);
    await network.remove(db);
    await stop();
    const closes = events.filter(({ type }) => type === 'close');
    expect(closes.map((event) => 'reason' in event && event.reason)).toEqual(['reset', 'denied', 'left']);
  });

  test('ends the delivery with the network, and checks its arguments', async () => {
    await using sidecar = await open();
    const { network, stop } = await shop(sidecar);
    expect(await codeOf(network.on('request' as 'open', () => {}))).toBe('ERR_INVALID_OPTION');
    expect(await codeOf(network.on('open', 1 as never))).toBe('ERR_INVALID_OPTION');
    await network.dispose();
    await stop();
    expect(await codeOf(network.on('open', () => {}))).toBe('ERR_INVALID_REQUEST');
  });
});

test('counts the events that were not taken in time', async () => {
  await using sidecar = await Sidecar.spawn();
  const { network, stop } = await shop(sidecar);
  const join = [{ network, as: 'flooder' }];
  const flooder = await NodeRuntime.create({ sidecar, network: { join }, permissions: { network: 'allow' } });
  let [denied, lost] = [0, 0];
  const stops = [
    await network.on('denied', () => denied++),
    await network.on('lost', ({ count }) => {
      lost += count;
    }),
  ];
  const count = 20_000;
  const { stdout, stderr } = await flooder.exec(`
    import dgram from 'node:dgram';
    const socket = dgram.createSocket('udp4').on('error', () => {});
    const { address } = await (await import('node:dns')).promises.lookup('db');
    let failed = 0;
    for (let n = 0; n < ${count}; n += 100) {
      await Promise.all(Array.from({ length: 100 }, () => new Promise((resolve) => socket.send('x', 81, address, (error) => {
        if (error?.code === 'EACCES') failed++;
        resolve();
      }))));
    }
    console.log(failed);
    socket.close();`);
  expect(stderr).toBe('');
  expect(Number(stdout)).toBe(count);
  for (const one of stops) await one();
  await stop();
  expect(denied + lost).toBe(count);
});
