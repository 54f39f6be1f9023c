// Connects programs of several runtimes through private networks. The tests cover names, addresses,
// rules, the ends of memberships, snapshots, and flooding members.

import { describe, expect, test } from 'vitest';
import { type GuestProcess, type MemberFlow, Network, NodeRuntime, RuntimePool, Sidecar } from '../../src/index.js';
import { codeOf, serve, tcpServer } from './network-helpers.js';
import { disposeAll, evaluate, runnerOf, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

const SIDECARS = [
  { name: 'process', open: () => Sidecar.spawn() },
  { name: 'embedded', open: () => Sidecar.embedded() },
  { name: 'embedded inline', open: () => Sidecar.embedded({ inlineBudgetMs: 5 }) },
];

const PORT = 5432;
const ECHO = tcpServer('socket.pipe(socket);', PORT);

/** Connects to `host`, sends `text`, and prints the response or the error. */
const talk = (host: string, text = 'hello', port = PORT): string => `
  import net from 'node:net';
  const socket = net.connect({ port: ${port}, host: ${JSON.stringify(host)} });
  let all = '';
  socket.setEncoding('utf8').on('data', (data) => (all += data)).on('end', () => console.log(all.length, all.slice(0, 5)));
  socket.on('error', ({ code, permission, reason }) => console.log([code, permission, reason].filter(Boolean).join(' ')));
  socket.end(${JSON.stringify(text)});`;

/** Reads the output of a process until the output contains `text`. */
async function readUntil(output: AsyncIterator<Uint8Array>, text: string): Promise<string> {
  let all = '';
  while (!all.includes(text)) {
    const { value, done } = await output.next();
    if (done) throw new Error(`the output ended after ${all}`);
    all += Buffer.from(value).toString();
  }
  return all;
}

/** Starts a program that holds a connection to `db`. Returns the output after the connect. */
async function hold(runtime: NodeRuntime): Promise<AsyncIterator<Uint8Array>> {
  const held: GuestProcess = await runtime.spawn(`
    import net from 'node:net';
    const socket = net.connect(${PORT}, 'db', () => socket.write('x'));
    socket.once('data', () => console.log('open')).on('error', ({ code }) => console.log(code));`);
  const output = held.stdout[Symbol.asyncIterator]();
  await readUntil(output, 'open');
  return output;
}

async function flowsOf(network: Network): Promise<MemberFlow[]> {
  const flows: MemberFlow[] = [];
  for await (const flow of network.flows()) flows.push(flow);
  return flows;
}

async function output(runtime: NodeRuntime, code: string): Promise<string> {
  const { stdout, stderr } = await runtime.exec(code);
  return (stdout + stderr).trim();
}

describe.each(SIDECARS)('$name', ({ open }) => {
  test('members connect to each other by name and by address', async () => {
    await using sidecar = await open();
    await using network = await Network.create({ sidecar, name: 'shop' });
    await using db = await NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'db', tags: ['store'] }] } });
    // Without the option `sidecar`, the runtime uses the sidecar of its network.
    await using web = await NodeRuntime.create({ network: { join: [{ network, as: 'web' }] } });
    await serve(db, ECHO, PORT);
    const [first] = await network.members();
    expect(first).toEqual({ name: 'db', tags: ['store'], v4: '198.18.0.1', v6: 'fd5c:93e1:7a04::1' });
    for (const host of ['db', 'db.shop.internal', '198.18.0.1', 'fd5c:93e1:7a04::1', '::ffff:198.18.0.1']) {
      expect(await output(web, talk(host)), host).toBe('5 hello');
    }
    expect(await output(web, talk('db', 'x'.repeat(3_000_000)))).toBe('3000000 xxxxx');
    expect(await output(web, talk('db', '', 80))).toBe('ECONNREFUSED');
    expect(await output(web, talk('nobody.shop.internal'))).toBe('ENOTFOUND');
    expect(await output(web, talk('198.18.9.9'))).toBe('EHOSTUNREACH');
  });

  test('shows the addresses of members to programs', async () => {
    await using sidecar = await open();
    await using network = await Network.create({ sidecar, name: 'shop' });
    const [db, web] = await Promise.all(
      ['db', 'web'].map((as) => NodeRuntime.create({ sidecar, network: { join: [{ network, as }] } })),
    );
    if (db === undefined || web === undefined) throw new Error('two runtimes');
    const [own, other] = (await network.members()).sort((a, b) => a.name.localeCompare(b.name));
    await serve(
      db,
      tcpServer('socket.end([socket.localAddress, socket.remoteAddress, socket.remoteFamily].join());', PORT),
      PORT,
    );
    const shown = `
      import net from 'node:net';
      import os from 'node:os';
      import dns from 'node:dns/promises';
      const socket = net.connect(${PORT}, 'db');
      let all = '';
      for await (const data of socket.setEncoding('utf8')) all += data;
      const { shop } = os.networkInterfaces();
      console.log(JSON.stringify([all, shop.map(({ cidr }) => cidr), await dns.resolve4('db'), await dns.reverse('${own?.v4}'),
        (await dns.lookupService('${own?.v6}', 80)).hostname]));`;
    expect(JSON.parse(await output(web, shown))).toEqual([
      `::ffff:${own?.v4},::ffff:${other?.v4},IPv6`,
      [`${other?.v4}/15`, `${other?.v6}/64`],
      [own?.v4],
      ['db.shop.internal'],
      'db.shop.internal',
    ]);
    await disposeAll([db, web]);
  });

  test('does not reach listeners at the loopback', async () => {
    await using sidecar = await open();
    await using network = await Network.create({ sidecar, name: 'shop' });
    await using db = await NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'db' }] } });
    await using web = await NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'web' }] } });
    await db.spawn(`
      import net from 'node:net';
      net.createServer((socket) => socket.end('here')).listen(81, '127.0.0.1');
      net.createServer((socket) => socket.end('here')).listen(82, '198.18.0.1', () => console.log('ready'));
      net.createServer((socket) => socket.end('here')).listen(83, '198.18.0.2').on('error', () => {});`);
    await db.waitForListener({ port: 81 });
    expect(await output(web, talk('db', '', 81))).toBe('ECONNREFUSED');
    expect(await output(web, talk('db', '', 82))).toBe('4 here');
  });

  test('rules are directed, and a change resets the connections that it denies', async () => {
    await using sidecar = await open();
    const rules = [{ from: 'web', to: 'store', ports: [PORT, '8000-8010'] }];
    await using network = await Network.create({ sidecar, name: 'shop', rules });
    await using db = await NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'db', tags: ['store'] }] } });
    await using web = await NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'web' }] } });
    await serve(db, ECHO, PORT);
    await serve(web, ECHO, PORT);
    expect(await output(web, talk('db'))).toBe('5 hello');
    expect(await output(db, talk('web'))).toBe('EACCES network.connect not-allowed');
    expect(await output(web, talk('db', '', 9_000))).toBe('EACCES network.connect not-allowed');
    const held = await hold(web);
    const [flow] = await flowsOf(network);
    expect(flow).toMatchObject({ from: 'web', to: 'db', port: PORT, sent: 1, received: 1 });
    await network.setRules([]);
    await readUntil(held, 'ECONNRESET');
    expect(await flowsOf(network)).toEqual([]);
    await network.setRules(undefined);
    expect(await output(db, talk('web'))).toBe('5 hello');
  });

  test('a running runtime joins and leaves', async () => {
    await using sidecar = await open();
    await using network = await Network.create({ sidecar, name: 'shop' });
    await using db = await NodeRuntime.create({ sidecar });
    await using web = await NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'web' }] } });
    await serve(db, ECHO, PORT);
    expect(await output(web, talk('db.shop.internal'))).toBe('ENOTFOUND');
    await network.add(db, { as: 'db' });
    expect(await output(web, talk('db'))).toBe('5 hello');
    expect(await codeOf(network.add(db, { as: 'again' }))).toBe('ERR_INVALID_REQUEST');
    await network.remove(db);
    expect(await output(web, talk('db.shop.internal'))).toBe('ENOTFOUND');
    await network.dispose();
    expect(await codeOf(network.add(db, { as: 'db' }))).toBe('ERR_INVALID_REQUEST');
  });

  test('nothing is forwarded between two networks of a runtime', async () => {
    await using sidecar = await open();
    await using one = await Network.create({ sidecar, name: 'one' });
    await using two = await Network.create({ sidecar, name: 'two' });
    await using left = await NodeRuntime.create({ sidecar, network: { join: [{ network: one, as: 'left' }] } });
    await using middle = await NodeRuntime.create({
      sidecar,
      network: {
        join: [
          { network: one, as: 'middle' },
          { network: two, as: 'middle' },
        ],
      },
    });
    await using right = await NodeRuntime.create({ sidecar, network: { join: [{ network: two, as: 'right' }] } });
    await serve(right, ECHO, PORT);
    const [, address] = await two.members();
    expect(await output(middle, talk('right'))).toBe('5 hello');
    expect(await output(left, talk(address?.v4 ?? ''))).toBe('EHOSTUNREACH');
    expect(await output(left, talk('right.two.internal'))).toMatch(/^(ENOTFOUND|EAI_AGAIN)/);
  });

  test('the end of one runtime resets the connections of the other', async () => {
    await using sidecar = await open();
    await using network = await Network.create({ sidecar, name: 'shop' });
    await using web = await NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'web' }] } });
    const db = await NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'db' }] } });
    await serve(db, ECHO, PORT);
    const held = await hold(web);
    await db.dispose();
    await readUntil(held, 'ECONNRESET');
    expect((await network.members()).map(({ name }) => name)).toEqual(['web']);
  });
});

test('a rollback, a clone and a restored runtime are in no network', async () => {
  await using sidecar = await Sidecar.spawn();
  await using network = await Network.create({ sidecar, name: 'shop' });
  await using db = await NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'db' }] } });
  await using web = await NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'web' }] } });
  await serve(web, ECHO, PORT);
  const runner = await db.createResidentRunner();
  const { stderr } = await runner.exec(`
    import net from 'node:net';
    globalThis.errors = [];
    globalThis.socket = net.connect(${PORT}, 'web').on('error', ({ code }) => errors.push(code));
    await new Promise((done) => socket.once('connect', done));
    socket.unref(); // the evaluation ends although the connection is open`);
  expect(stderr).toBe('');
  const snapshot = await db.snapshot();
  await using clone = await db.clone();
  const copies = [clone, await NodeRuntime.create({ sidecar, snapshot })];
  for (const copy of copies) {
    const restored = await runnerOf(copy);
    await restored.exec('await new Promise((done) => setTimeout(done, 1))');
    expect(await evaluate(restored, 'errors.join()')).toBe('ECONNRESET');
    expect(await output(copy, talk('web.shop.internal'))).not.toContain('hello');
  }
  expect((await network.members()).map(({ name }) => name)).toEqual(['db', 'web']);
  await network.add(clone, { as: 'copy' });
  expect(await output(clone, talk('web'))).toBe('5 hello');
  await db.rollback(snapshot);
  expect((await network.members()).map(({ name }) => name)).toEqual(['web', 'copy']);
  await disposeAll(copies.slice(1));
});

test('a runtime of a pool joins after it was taken', async () => {
  await using sidecar = await Sidecar.spawn();
  await using network = await Network.create({ sidecar, name: 'shop' });
  await using web = await NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'web' }] } });
  await serve(web, ECHO, PORT);
  const pool = new RuntimePool({ sidecar, size: 1, options: { network: {} } });
  for (let use = 0; use < 2; use += 1) {
    await pool.withRuntime(async (runtime) => {
      await network.add(runtime, { as: 'worker' });
      expect((await runtime.exec(talk('web'))).stdout.trim()).toBe('5 hello');
    });
  }
  await pool.dispose();
  expect((await network.members()).map(({ name }) => name)).toEqual(['web']);
  const wrong = { sidecar, size: 1, options: { network: { join: [{ network, as: 'a' }] } } };
  expect(() => new RuntimePool(wrong)).toThrow('network.join');
});

test('datagrams reach members that the rules allow', async () => {
  await using sidecar = await Sidecar.spawn();
  await using network = await Network.create({
    sidecar,
    name: 'shop',
    rules: [
      { from: 'web', to: 'db' },
      { from: 'db', to: 'web' },
    ],
  });
  await using db = await NodeRuntime.create({
    sidecar,
    network: { join: [{ network, as: 'db' }] },
    permissions: { network: 'allow' },
  });
  await using web = await NodeRuntime.create({
    sidecar,
    network: { join: [{ network, as: 'web' }] },
    permissions: { network: 'allow' },
  });
  const server = await db.spawn(`
    import dgram from 'node:dgram';
    const socket = dgram.createSocket('udp4', (message, { address, port }) => socket.send('to ' + message, port, address));
    socket.bind(53, () => console.log('ready'));`);
  await readUntil(server.stdout[Symbol.asyncIterator](), 'ready');
  const asked = `
    import dgram from 'node:dgram';
    const socket = dgram.createSocket('udp4', (message, { address }) => console.log(String(message), address));
    socket.on('message', () => socket.close());
    socket.send('web', 53, 'db');`;
  expect(await output(web, asked)).toBe('to web 198.18.0.1');
});

test('networks and runtimes of two sidecars do not mix', async () => {
  await using one = await Sidecar.spawn();
  await using other = await Sidecar.spawn();
  await using network = await Network.create({ sidecar: one, name: 'shop' });
  await using _decoy = await Network.create({ sidecar: other, name: 'decoy' });
  expect(await codeOf(NodeRuntime.create({ sidecar: other, network: { join: [{ network, as: 'db' }] } }))).toBe(
    'ERR_INVALID_OPTION',
  );
  expect(await codeOf(Network.create({ sidecar: one, name: 'Shop' }))).toBe('ERR_INVALID_OPTION');
  expect(await codeOf(network.setRules([{ ports: ['9-8'] }]))).toBe('ERR_INVALID_OPTION');
});

test('the permissions of the runtime are checked too', async () => {
  await using sidecar = await Sidecar.spawn();
  await using network = await Network.create({ sidecar, name: 'shop' });
  await using db = await NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'db' }] } });
  const permissions = {
    network: { default: 'allow' as const, rules: [{ mode: 'deny' as const, operations: ['connect' as const] }] },
  };
  await using web = await NodeRuntime.create({ sidecar, permissions, network: { join: [{ network, as: 'web' }] } });
  await serve(db, ECHO, PORT);
  expect(await output(web, talk('db'))).toMatch(/^EACCES network.connect/);
});
