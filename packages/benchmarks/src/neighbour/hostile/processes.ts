// Programs that use processes, sockets, pipes, output and calls of the app.

import { createMemoryFileSystem, type NodeRuntime } from 'coldframe';
import { type HostileProgram, roomy } from './program.js';

const echo = { description: 'returns its input', inputSchema: true, handler: (input: unknown) => input } as const;
const quick = { timeout: 5_000 };
const ignore = (): void => {};

/** Takes snapshots of a program with memory, as the owner of the runtime. */
async function snapshots(runtime: NodeRuntime): Promise<void> {
  let [runner] = await runtime.residentRunners();
  runner ??= await runtime.createResidentRunner();
  await runner.exec(`globalThis.all ??= Buffer.alloc(24 << 20, 1); for (let n = 0; n < all.length; n += 4096) all[n]++;`);
  const snapshot = await runtime.snapshot();
  await runtime.rollback(snapshot);
  await snapshot.delete();
}

async function clones(runtime: NodeRuntime): Promise<void> {
  const copies = await runtime.clone(20);
  await Promise.all(copies.map((copy) => copy.exec('1')));
  await Promise.all(copies.map((copy) => copy.dispose()));
}

export const processes: readonly HostileProgram[] = [
  { name: 'a chain of children', options: roomy, code: `for (;;) spawnSync('node', ['-e', '0']);`, isQuick: true },
  {
    name: 'many children at once',
    options: roomy,
    code: `const more = () => spawn('node', ['-e', 'for (let n = 0; n < 1e6; n++);']).on('error',
() => setImmediate(more)).on('exit', more); for (let n = 0; n < 40; n++) more(); await new Promise(() => {});`,
  },
  {
    name: 'detached children that respawn',
    options: roomy,
    code: `
const code = [
  'const { spawn } = require("child_process"); for (let n = 0; n < 1e7; n++);',
  'spawn("node", ["-e", process.argv[1] ?? "", process.argv[1] ?? ""], { detached: true, stdio: "ignore" }).unref()'
].join('');
for (let n = 0; n < 30; n++)
  spawn('node', ['-e', code, code], { detached: true, stdio: 'ignore' }).on('error', () => {}).unref();
await new Promise(() => {});`,
  },
  {
    name: 'the line discipline of terminals',
    code: `
const masters = Array.from({ length: 16 }, () => fs.openSync('/dev/ptmx', 'r+'));
const keys = Buffer.from('x'.repeat(4000) + '\\t\\x7f\\x12'.repeat(300) + '\\x03'), drain = Buffer.alloc(65536);
for (;;) for (const fd of masters) { quietly(() => fs.writeSync(fd, keys)); quietly(() => fs.readSync(fd, drain)); }`,
  },
  {
    name: 'environments of a megabyte',
    options: roomy,
    code: `const env = Object.fromEntries(Array.from({ length: 8000 }, (_, n) => ['A' + n, 'x'.repeat(100)]));
for (;;) spawnSync('node', ['-e', '0'], { env });`,
  },
  {
    name: 'arguments of a megabyte',
    options: roomy,
    code: `const args = ['-e', '0', ...Array(8000).fill('x'.repeat(100))]; for (;;) spawnSync('node', args);`,
  },
  {
    name: 'searches for a command',
    options: roomy,
    code: `for (let n = 0; n < 5; n++) fs.symlinkSync('./'.repeat(1990) + 'l' + (n + 1), 'l' + n); for (;;) spawnSync('nope', [],
{ env: { PATH: 'l0:'.repeat(60000) } });`,
  },
  {
    name: 'signals',
    options: roomy,
    code: `const child = spawn('node', ['-e', 'process.on("SIGUSR2", () => {}); setInterval(() => {}, 1000)']);
for (;;) { for (let n = 0; n < 500; n++) quietly(() => child.kill('SIGUSR2')); await tick(); }`,
  },
  {
    name: 'shells',
    options: roomy,
    code: `for (;;) spawnSync('sh', ['-c', 'for i in 1 2 3 4 5 6 7 8 9; do echo $i | cat | sort | tr a b; done']);`,
  },
  { name: 'endless output', code: `const data = Buffer.alloc(1 << 16, 120); for (;;) fs.writeSync(1, data);`, isQuick: true },
  { name: 'output in single bytes', code: `for (;;) fs.writeSync(2, 'x');` },
  {
    name: 'pipes between children',
    options: roomy,
    code: `for (;;) await new Promise((resolve) => exec('yes | head -c 30000000 | wc -c', resolve));`,
  },
  {
    name: 'connections',
    options: roomy,
    code: `const server = net.createServer((socket) => socket.on('error', () => {}).end('x')).listen(4000);
for (;;) await new Promise((resolve) => net.connect(4000).on('error', resolve).on('close', resolve).resume());`,
  },
  {
    name: 'many connections at once',
    options: roomy,
    code: `net.createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(4000); for (let n = 0; n < 200;
n++) { const socket = net.connect(4000).on('error', () => {}); socket.on('data', (data) => socket.write(data));
socket.write('x'.repeat(1000)); } await new Promise(() => {});`,
  },
  {
    name: 'bytes through a connection',
    options: roomy,
    code: `net.createServer((socket) => socket.on('error', () => {}).resume()).listen(4000); const socket = net.connect(4000);
const data = Buffer.alloc(1 << 20); for (;;) if (!socket.write(data)) await new Promise((resolve) => socket.once('drain',
resolve));`,
  },
  {
    name: 'datagrams',
    options: roomy,
    code: `const socket = dgram.createSocket('udp4'); await new Promise((resolve) => socket.bind(4000, resolve));
const data = Buffer.alloc(1000); for (;;) { for (let n = 0; n < 200; n++) socket.send(data, 4000, '127.0.0.1', () => {});
await tick(); }`,
  },
  {
    name: 'unread bytes',
    options: roomy,
    code: `net.createServer((socket) => socket.on('error', () => {}).pause()).listen(4000); for (let n = 0; n < 100;
n++) net.connect(4000).on('error', () => {}).write(Buffer.alloc(1 << 20)); await new Promise(() => {});`,
  },
  {
    name: 'lookups of names',
    code: `const dns = await import('node:dns'); for (;;) { await Promise.all(Array.from({ length: 100 }, (_,
n) => dns.promises.lookup('n' + n + '.example').catch(() => {}))); }`,
  },
  {
    name: 'calls of a binding',
    options: { bindings: { same: echo } },
    code: `for (;;) await Promise.all(Array.from({ length: 50 }, (_, n) => callBinding('same', n).catch(() => {})));`,
    isQuick: true,
  },
  {
    name: 'calls of a binding with a megabyte',
    options: { bindings: { same: echo } },
    code: `const text = 'x'.repeat(1_000_000); for (;;) await Promise.all([1, 2, 3, 4].map(() => callBinding('same',
text).catch(() => {})));`,
  },
  {
    name: 'calls of an app file system',
    options: { mounts: [{ guestPath: '/a', fileSystem: createMemoryFileSystem() }] },
    code: `for (let n = 0; ; n++) { fs.writeFileSync('/a/f' + (n % 100), 'x'); fs.statSync('/a/f' + (n % 100)); }`,
  },
  {
    name: 'listings of an app file system',
    options: { mounts: [{ guestPath: '/a', fileSystem: createMemoryFileSystem() }] },
    code: `for (let n = 0; n < 3000; n++) quietly(() => fs.mkdirSync('/a/' + process.pid + '-' + n));
for (;;) quietly(() => fs.readdirSync('/a'));`,
  },
];

export const ofOwner: readonly HostileProgram[] = [
  { name: 'snapshots and rollbacks of 24 MiB', calls: snapshots, isQuick: true },
  { name: 'clones', calls: clones },
  {
    name: 'runtimes that are made and disposed of',
    calls: async (runtime) => Promise.all((await runtime.clone(50)).map((copy) => copy.dispose())),
  },
  {
    name: 'changes of the policy',
    calls: async (runtime) =>
      runtime.setPermissions({
        fs: { default: 'allow', rules: Array.from({ length: 300 }, (_, n) => ({ mode: 'deny', paths: [`/workspace/${n}/**`] })) },
      }),
  },
  {
    name: 'requests to a hostile server',
    calls: async (runtime) => {
      if ((await runtime.listeners()).length === 0) {
        await runtime.spawn(
          `import net from 'node:net'; net.createServer((socket) => socket.on('error', () => {}).once('data',
() => socket.end('HTTP/1.1 200 OK\\r\\n\\r\\n' + 'x'.repeat(900000)))).listen(3000);`,
        );
        await runtime.waitForListener({ port: 3000 });
      }
      await runtime.fetch(3000, '/', { timeoutMs: 5_000 }).catch(ignore);
    },
  },
  {
    name: 'decisions of permissions with a listener',
    calls: async (runtime) => {
      const stop = await runtime.onPermission(ignore);
      await runtime.exec(`import fs from 'node:fs'; for (let n = 0; n < 20000; n++) fs.existsSync('/x' + n);`, quick);
      await stop();
    },
  },
];
