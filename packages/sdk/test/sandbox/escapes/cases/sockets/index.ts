// Connects to the host machine, the network and the neighbour. No form of an address may reach
// these targets.

import { connect } from 'node:net';
import type { NodeRuntime } from '../../../../../src/index.js';
import type { EscapeCase, Theme } from '../../harness/case.js';
import type { CaseFolders } from '../../harness/folders.js';
import { type Listeners, listen } from '../../harness/listeners.js';
import { PRELUDE } from '../../harness/prelude.js';

/**
 * Runs a program against listeners of the host machine. Returns the program's output and the number
 * of connections and messages that arrived.
 */
const tryListeners =
  (program: (listeners: Listeners) => string) =>
  async (runtime: NodeRuntime, folders: CaseFolders): Promise<string> => {
    const listeners = await listen(folders.root);
    try {
      const result = await runtime.exec(`${PRELUDE}\n${program(listeners)}\nprocess.exit();`, { timeout: 10_000 });
      await new Promise((resolve) => setTimeout(resolve, 20));
      return `${result.stdout.trim()}${result.stderr} arrivals: ${listeners.arrivals()}`;
    } finally {
      await listeners.close();
    }
  };

const CONNECT = `
const net = require('net');
const reach = (...to) => {
  try {
    const socket = net.connect(...to);
    setTimeout(() => socket.destroy(new Error('late')), 1_000).unref();
    return event(socket, 'connect', 'error');
  } catch (error) { return nameOf(error); }
};`;

/** Addresses of networks and clouds, in forms that parsers treat differently. */
const ADDRESSES = [
  '169.254.169.254',
  '10.0.0.1',
  '192.168.0.1',
  '172.17.0.1',
  '8.8.8.8',
  '1.1.1.1',
  '100.64.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '198.18.0.1',
  '::ffff:169.254.169.254',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
  'fe80::1',
  'fd00::1',
  '2001:4860:4860::8888',
  'ff02::1',
  '::8.8.8.8',
];

export const sockets: Theme = {
  name: 'sockets',
  cases: [
    {
      name: "a listener on the host machine's loopback is not reachable",
      attack: tryListeners(
        ({ tcp }) =>
          `
${CONNECT}
const codes = [];
for (const host of [
  '127.0.0.1', 'localhost', '::1', '0.0.0.0', '::', '::ffff:127.0.0.1', '127.1', '127.0.0.2', '2130706433', '0x7f.1',
  '0177.0.0.1', 'coldframe'
]) codes.push(await reach(${tcp}, host));
say(distinct(codes));`,
      ),
      expected: /^(?!.*connect)[A-Z_ ]+ arrivals: 0$/,
    },
    {
      name: "the host machine's Unix sockets are not reachable by path, descriptor or abstract name",
      attack: tryListeners(
        ({ path }) =>
          `
${CONNECT}
say(distinct(await Promise.all([
  reach(${JSON.stringify(path)}), reach('/proc/self/root' + ${JSON.stringify(path)}), reach('\\0' + ${JSON.stringify(path)}),
  reach('\\0/tmp/.X11-unix/X0'), reach('\\0/org/freedesktop/systemd1/notify'), reach('/var/run/docker.sock'),
  reach('/run/dbus/system_bus_socket')
])));`,
      ),
      expected: /^(ECONNREFUSED|ENOENT|EINVAL| )+ arrivals: 0$/,
    },
    {
      name: 'a Unix socket of the host machine in a mounted folder is not reachable',
      options: ({ root }) => ({ mounts: [{ guestPath: '/m', hostPath: root, readOnly: false }] }),
      attack: tryListeners(
        () =>
          `
${CONNECT}
say(
  await reach('/m/host.sock'),
  await event(net.createServer().listen('/m/own.sock'), 'listening', 'error'),
  tried(() => fs.openSync('/m/host.sock', 'r+')),
  tried(() => fs.linkSync('/m/host.sock', '/tmp/host.sock'))
);`,
      ),
      expected: /^(EACCES|ECONNREFUSED) EACCES EACCES EXDEV arrivals: 0$/,
    },
    {
      name: 'UDP messages do not reach the host machine',
      attack: tryListeners(
        ({ udp }) => `
const socket = require('dgram').createSocket('udp4');
const send = (host) => new Promise((resolve) => {
  try { socket.send('x', ${udp}, host, (error) => resolve(error ? error.code : 'sent')); } catch (error) { resolve(error.code); }
});
const codes = [];
for (const host of ['127.0.0.1', '0.0.0.0', '255.255.255.255', '224.0.0.1', '8.8.8.8', '169.254.169.254'])
  codes.push(await send(host));
say(codes.slice(2).filter((code) => code === 'sent').length);`,
      ),
      expected: '0 arrivals: 0',
    },
    {
      name: 'addresses of networks and clouds are refused at once',
      program: `
${CONNECT}
const codes = await Promise.all(${JSON.stringify(ADDRESSES)}.flatMap((host) => [80, 53, 22].map((port) =>
  reach({ host, port }))));
say(distinct(codes));`,
      expected: 'EACCES',
    },
    {
      name: 'names are not resolved by the host machine',
      program: `
const dns = require('dns');
const names = [
  'example.com', 'metadata.google.internal', 'host.docker.internal', 'kubernetes.default.svc', 'x'.repeat(300) + '.com', 'a..b',
  ''
];
const answers = await Promise.all(names.flatMap((name) => [
  later(() => dns.promises.lookup(name).then(({ address }) => address)),
  later(() => dns.promises.resolve4(name)),
  later(() => dns.promises.reverse('8.8.8.8')),
  later(() => dns.promises.resolveTxt(name))
]));
say(answers.every((answer) => /^(E[A-Z]|ERR_|undefined|null|TypeError)/.test(answer)) || answers.join());`,
      expected: 'true',
    },
    {
      name: 'fetch, http, https, http2 and WebSocket reach no host',
      program: `
const urls = [
  'http://169.254.169.254/latest/meta-data/', 'http://10.0.0.1/', 'https://8.8.8.8/', 'http://[::ffff:a9fe:a9fe]/',
  'http://2852039166/', 'file:///etc/passwd', 'http://127.0.0.1:1/', 'ftp://8.8.8.8/'
];
const answers = await Promise.all(urls.map((url) => later(() => fetch(url).then(({ status }) => 'status ' + status))));
answers.push(
  await event(require('http').get('http://169.254.169.254/'), 'response', 'error'),
  await later(() => event(require('https').get('https://1.1.1.1/'), 'response', 'error'))
);
say(
  answers.some((answer) => /status|response/.test(answer)),
  typeof WebSocket === 'undefined' || (await new Promise((resolve) => {
    const socket = new WebSocket('ws://8.8.8.8/');
    socket.onopen = () => resolve('open');
    socket.onerror = () => resolve('error');
  })) === 'error'
);`,
      expected: 'false true',
    },
    {
      name: "the neighbour's ports, paths and abstract names are not reachable",
      program: `
${CONNECT}
fs.writeFileSync('/workspace/neighbour.sock', '');
say(
  await reach(4_100),
  await reach('/workspace/neighbour.sock'),
  await reach('\\0neighbour'),
  await event(net.createServer().listen(4_100), 'listening', 'error'),
  await event(net.createServer().listen('\\0neighbour'), 'listening', 'error')
);
process.exit();`,
      expected: 'ECONNREFUSED ECONNREFUSED ECONNREFUSED listening listening',
    },
    {
      name: "only the runtime's own listener answers among thousands of loopback ports",
      program: `
${CONNECT}
const server = net.createServer((socket) => socket.end());
await new Promise((resolve) => server.listen(30_000, resolve));
const found = [];
for (let from = 1; from < 65_536; from += 50) await Promise.all(Array.from({ length: 50 }, (_, i) => from + i)
  .filter((port) => port < 65_536 && (port < 1_500 || port % 53 === 0 || port === 30_000))
  .map(async (port) => { if ((await reach(port, '127.0.0.1')) === 'connect') found.push(port); }));
say(found.join());
process.exit();`,
      execOptions: { timeout: 18_000 },
      expected: '30000',
    },
    {
      name: "a guest's listener is not reachable on the host machine",
      attack: async (runtime) => {
        const child = await runtime.spawn(
          `
import net from 'node:net';
for (const host of ['127.0.0.1', '0.0.0.0', '::'])
  net.createServer((socket) => socket.end('guest')).on('error', () => {}).listen(45_871, host, () => console.log('listening'));`,
        );
        for await (const _ready of child.stdout) break;
        const reached = await new Promise((resolve) =>
          connect(45_871, '127.0.0.1')
            .on('connect', () => resolve('connected'))
            .on('error', (error: NodeJS.ErrnoException) => resolve(error.code)),
        );
        await child.kill('SIGKILL');
        return String(reached);
      },
      expected: 'ECONNREFUSED',
    },
    {
      name: 'addresses of the host machine cannot be bound',
      program: `
const net = require('net');
const dgram = require('dgram');
const hosts = ['10.0.0.1', '169.254.169.254', '8.8.8.8', '192.168.0.1', 'fe80::1', '224.0.0.1'];
const codes = [];
for (const host of hosts) codes.push(
  await event(net.createServer().listen(0, host), 'listening', 'error'),
  await new Promise((resolve) => {
    const socket = dgram.createSocket(host.includes(':') ? 'udp6' : 'udp4');
    socket.on('error', (error) => resolve(error.code)).on('listening', () => resolve('bound'));
    try { socket.bind(0, host); } catch (error) { resolve(error.code); }
  })
);
say(distinct(codes));
process.exit();`,
      expected: /^(EADDRNOTAVAIL|EACCES|EINVAL| )+$/,
    },
    {
      name: 'multicast, broadcast and other socket options reach no host',
      program: `const socket = require('dgram').createSocket('udp4'); await new Promise((resolve) => socket.bind(0, resolve));
say(
  distinct([
    () => socket.addMembership('224.0.0.251'),
    () => socket.setMulticastInterface('10.0.0.1'),
    () => socket.addSourceSpecificMembership('10.0.0.1', '232.1.1.1'),
    () => socket.setBroadcast(true),
    () => socket.setMulticastTTL(255),
    () => socket.connect(80, '8.8.8.8')
  ].map((call) => tried(call).replace('done', 'done'))).length > 0,
  await event(socket, 'error', 'connect')
);
process.exit();`,
      expected: /^true (EACCES|E[A-Z]+|ERR_[A-Z_]+)$/,
    },
    {
      name: 'handles refuse wrong addresses and flags',
      execOptions: { execArgv: ['--expose-internals', '--no-warnings'] },
      program: `
const { internalBinding } = require('internal/test/binding');
const { TCP, TCPConnectWrap } = internalBinding('tcp_wrap');
const { UDP, SendWrap } = internalBinding('udp_wrap');
const { Pipe, PipeConnectWrap } = internalBinding('pipe_wrap');
let calls = 0;
for (const address of [
  '', '127.0.0.1\\0', '256.1.1.1', '127.0.0.1/8', '::1%lo', '::1%0', ' 127.0.0.1', '1', '::ffff:8.8.8.8%1', 'x'.repeat(10_000),
  null, {}
])
  for (const port of [-1, 0, 65_536, 2 ** 31, NaN])
    for (const flags of [0, 1, 2, 0xffffffff]) {
      const tcp = new TCP(0);
      tried(() => tcp.bind(address, port, flags));
      tried(() => tcp.bind6(address, port, flags));
      tried(() => tcp.connect(new TCPConnectWrap(), address, port));
      tried(() => tcp.connect6(new TCPConnectWrap(), address, port));
      tried(() => tcp.listen(port));
      tried(() => tcp.close());
      const udp = new UDP();
      tried(() => udp.bind(address, port, flags));
      tried(() => udp.connect(address, port));
      tried(() => udp.send(new SendWrap(), [Buffer.from('x')], 1, port, address, false));
      tried(() => udp.send(new SendWrap(), null, 2 ** 31, port, address, false));
      tried(() => udp.close());
      const pipe = new Pipe(0);
      tried(() => pipe.bind(address));
      tried(() => pipe.connect(new PipeConnectWrap(), address));
      tried(() => pipe.listen(port));
      tried(() => pipe.close());
      calls++;
    }
say(calls); process.exit();`,
      expected: '240',
    },
  ] satisfies EscapeCase[],
};
