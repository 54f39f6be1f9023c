// Tries further ways out of a runtime: redirects, handles of the system, variables, files, floods
// and scans. `egress.test.ts` has the other categories.

import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { NodeRuntime } from '../../../src/index.js';
import { edgePids, HOST_ADDRESS, http, tcp } from '../outside-helpers.js';
import { until } from '../snapshot-helpers.js';
import { connects, DENIAL, evaluations, FAST, fetches, openPort, useSidecar } from './attempts.js';
import { hostileDns, victim } from './hostile-servers.js';

const HOST = HOST_ADDRESS ?? '';
const inRuntime = useSidecar();

describe.skipIf(HOST_ADDRESS === undefined)('protocol', () => {
  test('a redirect of an allowed host is a new connection, which is judged', async () => {
    await using refused = await victim();
    await using names = await hostileDns(({ name, type }) =>
      name === 'one.example.com' && type === 'A' ? [{ address: HOST }] : [],
    );
    const server = createServer((request, response) => {
      const [, status, location = ''] = decodeURIComponent(request.url ?? '').split('|');
      if (status === undefined) return void response.end('arrived');
      response
        .writeHead(Number(status), { location, 'alt-svc': `h2="${HOST}:${refused.port}"`, refresh: `0;url=${location}` })
        .end();
    });
    await once(server.listen(0, '0.0.0.0'), 'listening');
    const { port } = server.address() as AddressInfo;
    await inRuntime(openPort(port, names.port), async (runtime) => {
      const targets = [
        'http://169.254.169.254/latest/meta-data/',
        `http://${HOST}:${refused.port}/`,
        `http://[::ffff:${HOST}]:${refused.port}/`,
        `http://one.example.com:${refused.port}/`,
        `http://attacker.example:${port}/`,
        `http://127.0.0.1:${refused.port}/`,
        `//${HOST}:${refused.port}/`,
        'file:///etc/passwd',
      ];
      const through = (status: number, target: string): string =>
        `http://one.example.com:${port}/${encodeURIComponent(`|${status}|${target}`)}`;
      const urls = [301, 302, 303, 307, 308].flatMap((status) => targets.map((target) => through(status, target)));
      const all = await fetches(runtime, urls);
      expect(urls.filter((_, at) => /^\d/.test(all[at] ?? ''))).toEqual([]);
      // A redirect to an allowed host works, so the denials above are of the targets.
      expect(await fetches(runtime, [through(302, `http://one.example.com:${port}/`)])).toEqual(['200 arrived']);
    });
    server.closeAllConnections();
    server.close();
    expect(await refused.reached()).toBe(0);
    expect(names.asked).not.toContain('attacker.example');
  });

  test('datagrams, handles of the system and local addresses are no way around the policy', async () => {
    await using refused = await victim();
    await using good = await http();
    await inRuntime({ private: [`${HOST}:${good.port}`], limits: FAST }, async (runtime) => {
      const setup = `
        import dgram from 'node:dgram';
        import net from 'node:net';
        const send = (prepare, ...to) => new Promise((resolve, reject) => {
          const socket = dgram.createSocket({ type: 'udp4', reuseAddr: true }).on('error', reject);
          socket.bind(0, () => {
            try { prepare(socket); } catch {}
            socket.send('x', ...to, (error) => { socket.close(); error ? reject(error) : resolve('sent'); });
          });
        });
        const wrap = process.binding('tcp_wrap');
        const raw = (host, port) => new Promise((resolve, reject) => {
          const handle = new wrap.TCP(wrap.constants.SOCKET);
          const request = new wrap.TCPConnectWrap();
          request.oncomplete = (status) => (status < 0 ? reject({ code: 'E' + status }) : resolve('connected'));
          const status = handle.connect(request, host, port);
          if (status < 0) reject({ code: 'E' + status });
        });
        const open = (options) => new Promise((resolve, reject) => {
          net.connect(options, () => resolve('open')).on('error', reject);
        });
        const one = (host, options, done) => done(null, '${HOST}', 4);
        const list = (host, options, done) => done(null, [{ address: '${HOST}', family: 4 }]);`;
      const { port, udpPort } = refused;
      const all = await evaluations(runtime, setup, [
        `send(() => {}, ${udpPort}, '${HOST}')`,
        `send((socket) => socket.setBroadcast(true), ${udpPort}, '255.255.255.255')`,
        `send((socket) => socket.addMembership('224.0.0.251'), ${udpPort}, '224.0.0.251')`,
        `send(() => {}, ${good.port}, '${HOST}')`,
        `send(() => {}, 443, '8.8.8.8')`,
        `raw('${HOST}', ${port})`,
        `open({ host: '${HOST}', port: ${port}, localAddress: '${HOST}' })`,
        `open({ host: '${HOST}', port: ${port}, lookup: one })`,
        `open({ host: 'one.example.com', port: ${port}, lookup: list })`,
      ]);
      expect(all.filter((result) => !DENIAL.test(result))).toEqual([]);
      expect(await fetches(runtime, [`http://${HOST}:${good.port}/`])).toEqual(['200 GET /']);
    });
    expect(await refused.reached()).toBe(0);
  });
});

describe.skipIf(HOST_ADDRESS === undefined)('environment', () => {
  test('variables, files and options of the program change nothing', async () => {
    await using refused = await victim();
    await using names = await hostileDns(({ name, type }) =>
      name === 'one.example.com' && type === 'A' ? [{ address: HOST }] : [],
    );
    await using stranger = await hostileDns(() => [{ address: HOST }]);
    await using good = await http();
    const proxy = `http://${HOST}:${refused.port}`;
    const env = {
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      http_proxy: proxy,
      https_proxy: proxy,
      ALL_PROXY: proxy,
      NODE_USE_ENV_PROXY: '1',
      NODE_OPTIONS: '--dns-result-order=verbatim --use-env-proxy',
      NODE_EXTRA_CA_CERTS: '/tmp/ca.pem',
      RES_OPTIONS: 'attempts:1',
      LOCALDOMAIN: 'attacker.example',
      RESOLV_CONF: '/tmp/resolv.conf',
      HOSTALIASES: '/tmp/hosts',
      COLDFRAME_LOG: 'all',
    };
    const files = {
      '/etc/hosts': `${HOST} one.example.com two.example.com\n127.0.0.1 one.example.com\n`,
      '/etc/resolv.conf': `nameserver ${HOST}\nsearch attacker.example\noptions ndots:9\n`,
      '/etc/nsswitch.conf': 'hosts: files\n',
      '/tmp/hosts': `one two.attacker.example\n`,
    };
    const network = { ...openPort(good.port, names.port), allow: ['one.example.com:*'] };
    const urls = [
      `http://one.example.com:${good.port}/`,
      `http://two.example.com:${refused.port}/`,
      `http://attacker.example:${refused.port}/`,
      `http://one.example.com:${refused.port}/`,
    ];
    const attack = async (runtime: NodeRuntime): Promise<void> => {
      const all = await fetches(runtime, urls);
      expect(all.slice(1).filter((result) => /^\d/.test(result))).toEqual([]);
      // A child has the policy of its runtime, regardless of its environment and arguments.
      const child = `
        import { execFileSync } from 'node:child_process';
        const code = "fetch('http://${HOST}:${refused.port}/')" +
          '.then((r) => console.log(r.status), (e) => console.log(e.cause.code))';
        const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
        const call = async (args, env) => execFileSync(process.execPath, args, { ...options, env });`;
      const results = await evaluations(runtime, child, [
        `call(['-e', code], {})`,
        `call(['-e', code], { NODE_OPTIONS: '--permission --allow-net' })`,
        `call(['--use-env-proxy', '-e', code], { HTTP_PROXY: 'http://one.example.com:${good.port}' })`,
      ]);
      expect(results.filter((result) => /done "\d/.test(result))).toEqual([]);
    };
    // Without the variables, the program reaches the allowed name.
    const reach = async (runtime: NodeRuntime): Promise<void> => {
      expect(await fetches(runtime, urls.slice(0, 1))).toEqual(['200 GET /']);
    };
    await inRuntime(network, attack, { env, files });
    await inRuntime(network, reach, { files });
    expect(await refused.reached()).toBe(0);
    expect(stranger.asked).toEqual([]);
    // The edge process asks for the prefix of NAT64 (RFC 7050).
    const expected = ['one.example.com', 'ipv4only.arpa'];
    expect(names.asked.filter((name) => !expected.includes(name))).toEqual([]);
  });

  test('no process of the product listens', async () => {
    await using good = await http();
    await inRuntime({ private: [`${HOST}:${good.port}`] }, async (runtime, sidecar) => {
      expect(await fetches(runtime, [`http://${HOST}:${good.port}/`])).toEqual(['200 GET /']);
      const pids = [...edgePids(), sidecar.pid];
      expect(pids.length).toBeGreaterThan(1);
      expect(pids.map(listenersOf)).toEqual(pids.map(() => []));
    });
    // The function finds a listener of this process.
    expect(listenersOf(process.pid)).toContain(good.port);
  });
});

/** Returns the TCP ports on which a process listens, and its bound UDP ports. */
function listenersOf(pid: number): number[] {
  const inodes = new Set<string>();
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    try {
      inodes.add(readlinkSync(`/proc/${pid}/fd/${fd}`).replaceAll(/\D/g, ''));
    } catch {
      // The descriptor has been closed.
    }
  }
  const rows = ['tcp', 'tcp6'].flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1));
  const LISTEN = '0A';
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === LISTEN && inodes.has(inode ?? ''))
    .map(([, local = '']) => Number.parseInt(local.split(':')[1] ?? '', 16));
}

describe.skipIf(HOST_ADDRESS === undefined)('exhaustion', () => {
  test('a flood of connections stays below the rate, and another runtime connects', async () => {
    await using target = await http();
    const from = performance.now();
    await inRuntime(
      { private: [`${HOST}:*`], limits: { connectsPerSecond: 50, connections: 4_096, connecting: 4_096 } },
      async (runtime) => {
        const setup = `
        import net from 'node:net';
        const one = () => new Promise((resolve) => {
          const socket = net.connect(${target.port}, '${HOST}', () => { socket.destroy(); resolve('open'); });
          socket.on('error', ({ code }) => resolve(code));
        });
        const many = async () => {
          const all = await Promise.all(Array.from({ length: 500 }, one));
          return all.filter((result) => result === 'open').length;
        };`;
        const results = await evaluations(runtime, setup, ['many()', 'many()', 'many()']);
        const opened = results.reduce((sum, result) => sum + Number(result.slice(5)), 0);
        const seconds = (performance.now() - from) / 1_000;
        expect(opened).toBeGreaterThanOrEqual(200);
        expect(opened).toBeLessThanOrEqual(200 + 50 * seconds);
        expect(target.count()).toBeLessThanOrEqual(200 + 50 * seconds);
        await inRuntime({ private: [`${HOST}:${target.port}`] }, async (other) => {
          expect(await fetches(other, [`http://${HOST}:${target.port}/`])).toEqual(['200 GET /']);
        });
      },
    );
  });

  test('a scan of ports ends after failures of 100 ports', async () => {
    await using target = await http();
    await inRuntime({ private: [`${HOST}:*`], limits: FAST }, async (runtime) => {
      const ports = Array.from({ length: 400 }, (_, at) => 1 + at).filter((port) => ![22, 25, 53, 80, 443].includes(port));
      const limits: string[] = [];
      const stop = await runtime.network.on('limit', ({ limit }) => void limits.push(limit ?? ''));
      const all = await connects(
        runtime,
        ports.map((port) => ({ host: HOST, port })),
      );
      expect(all.filter((result) => result === 'ECONNREFUSED')).toHaveLength(100);
      expect(await connects(runtime, [{ host: HOST, port: target.port }])).not.toEqual(['connected']);
      await until(() => limits.length > 0);
      await stop();
    });
    expect(target.count()).toBe(0);
  });

  test('the limits of connections and bytes hold at the peer', async () => {
    let bytes = 0;
    let [open, most] = [0, 0];
    await using sink = await tcp((socket) => {
      most = Math.max(most, ++open);
      socket
        .on('data', (piece) => (bytes += piece.length))
        .on('end', () => socket.end())
        .on('close', () => open--);
    });
    const limits = { connections: 8, bytes: 1_000_000 };
    await inRuntime({ private: [`${HOST}:${sink.port}`], limits }, async (runtime) => {
      const setup = `
        import net from 'node:net';
        const flood = () => new Promise((resolve) => {
          const socket = net.connect(${sink.port}, '${HOST}');
          socket.on('error', ({ code }) => resolve(code)).on('close', () => resolve('closed'));
          socket.write(Buffer.alloc(1_000_000));
        });`;
      const [result = ''] = await evaluations(runtime, setup, ['Promise.all(Array.from({ length: 40 }, flood))']);
      expect(result).toContain('ENOBUFS');
    });
    await until(() => open === 0);
    expect(most).toBe(8);
    expect(bytes).toBeLessThanOrEqual(1_000_000);
    expect(bytes).toBeGreaterThan(0);
  });
});
