// Families of single calls of a guest, with parameters that a search changes. `prepare` makes the
// files of the parameters, and `call` is the measured call. `clean` removes the effects of `call`.

import type { NodeRuntimeOptions } from 'coldframe';

export interface Family {
  name: string;
  /** The range of each parameter. */
  ranges: Readonly<Record<string, readonly [from: number, to: number]>>;
  prepare?: string;
  call: string;
  clean?: string;
  options?: NodeRuntimeOptions;
}

const RULES = {
  permissions: {
    fs: {
      default: 'allow',
      rules: Array.from({ length: 100 }, (_, n) => ({ mode: 'deny' as const, paths: [`**/x${n}/**/y*`] })),
    },
  },
} as const;

const ROOMY = { limits: { descriptors: 4_096, processes: 64 } };

/** Makes a chain of directories, and enters the chain if `inside` is not 0. */
const DEEP = `fs.mkdirSync('d/'.repeat(p.depth), { recursive: true }); if (p.inside > 0.5) process.chdir('d/'.repeat(p.depth));
fs.mkdirSync('e', { recursive: true });`;

export const families: readonly Family[] = [
  {
    name: 'stat of a deep path',
    ranges: { depth: [1, 1900] },
    prepare: `fs.mkdirSync('d/'.repeat(p.depth), { recursive: true });`,
    call: `fs.statSync('d/'.repeat(p.depth))`,
  },
  {
    name: 'stat of a deep path with rules',
    ranges: { depth: [1, 1900] },
    options: RULES,
    prepare: `fs.mkdirSync('d/'.repeat(p.depth), { recursive: true });`,
    call: `fs.statSync('d/'.repeat(p.depth))`,
  },
  {
    name: 'stat of dots',
    ranges: { depth: [1, 1900], inside: [0, 1], dots: [1, 1300], kind: [0, 3] },
    options: RULES,
    prepare: DEEP,
    call: `fs.statSync(['../', 'e/../', './', '..//'][p.kind | 0].repeat(p.dots))`,
  },
  {
    name: 'stat of a chain of links',
    ranges: { depth: [1, 1900], inside: [0, 1], links: [1, 39], dots: [1, 780], kind: [0, 2] },
    options: RULES,
    prepare: `${DEEP} for (let n = 0; n < p.links; n++) fs.symlinkSync((['e/../', './',
'e/./../'][p.kind | 0].repeat(p.dots)).slice(0, 4000 - 3).replace(/[^/]*$/, '') + 'l' + (n + 1), 'l' + n);
fs.mkdirSync('l' + p.links);`,
    call: `fs.statSync('l0')`,
  },
  {
    name: 'realpath of a chain of links',
    ranges: { depth: [1, 900], links: [1, 39] },
    prepare: `fs.mkdirSync('d/'.repeat(p.depth), { recursive: true }); for (let n = 0; n < p.links;
n++) fs.symlinkSync('l' + (n + 1), 'l' + n); fs.symlinkSync('d/'.repeat(p.depth), 'l' + p.links);`,
    call: `fs.realpathSync.native('l0')`,
  },
  {
    name: 'mkdir of a long chain',
    ranges: { depth: [1, 2000] },
    options: RULES,
    call: `fs.mkdirSync('m/'.repeat(p.depth), { recursive: true })`,
    clean: `fs.rmSync('m', { recursive: true, force: true })`,
  },
  {
    name: 'rename of a tree',
    ranges: { width: [1, 60], depth: [1, 60], long: [1, 200] },
    options: RULES,
    prepare: `for (let n = 0; n < p.width; n++) fs.mkdirSync('t/' + n + ('/' + 'x'.repeat(p.long)).repeat(Math.min(p.depth,
3500 / (p.long + 1))), { recursive: true });`,
    call: `fs.renameSync('t', 't2')`,
    clean: `fs.renameSync('t2', 't')`,
  },
  {
    name: 'readdir of many names',
    ranges: { names: [1, 12000], long: [1, 200] },
    prepare: `for (let n = 0; n < p.names; n++) fs.writeFileSync(String(n).padStart(Math.max(6, p.long), 'n'), '');`,
    call: `fs.readdirSync('.')`,
  },
  {
    name: 'removal of a file with many pieces',
    ranges: { pieces: [1, 8000], gap: [4096, 1 << 24] },
    prepare: `const fd = fs.openSync('s', 'w'); for (let n = 0; n < p.pieces; n++) { try { fs.writeSync(fd, 'x', n * p.gap);
} catch { break; } } fs.closeSync(fd);`,
    call: `fs.unlinkSync('s')`,
  },
  {
    name: 'truncation of a file with many pieces',
    ranges: { pieces: [1, 8000], gap: [4096, 1 << 24] },
    prepare: `const fd = fs.openSync('s', 'w'); for (let n = 0; n < p.pieces; n++) { try { fs.writeSync(fd, 'x', n * p.gap);
} catch { break; } } fs.closeSync(fd);`,
    call: `fs.truncateSync('s', 1)`,
  },
  {
    name: 'a read of a large file',
    ranges: { megabytes: [1, 40], part: [1, 40] },
    prepare: `fs.writeFileSync('f', Buffer.alloc(p.megabytes << 20, 1)); globalThis.target = Buffer.alloc(p.part << 20);
globalThis.fd = fs.openSync('f');`,
    call: `fs.readSync(fd, target, 0, target.length, 0)`,
  },
  {
    name: 'a write of a large file',
    ranges: { megabytes: [1, 40], at: [0, 1 << 30] },
    prepare: `globalThis.source = Buffer.alloc(p.megabytes << 20, 1); globalThis.fd = fs.openSync('f', 'w');`,
    call: `fs.writeSync(fd, source, 0, source.length, p.at)`,
    clean: `fs.ftruncateSync(fd, 0)`,
  },
  {
    name: 'a write of many vectors',
    ranges: { vectors: [1, 20000], bytes: [0, 2000] },
    prepare: `globalThis.vectors = Array.from({ length: p.vectors }, () => Buffer.alloc(p.bytes));
globalThis.fd = fs.openSync('f', 'w');`,
    call: `fs.writevSync(fd, vectors)`,
    clean: `fs.ftruncateSync(fd, 0)`,
  },
  {
    name: 'a copy of a file',
    ranges: { megabytes: [1, 28], gap: [0, 1] },
    prepare: `fs.writeFileSync('f', Buffer.alloc(p.megabytes << 20, p.gap > 0.5 ? 0 : 1));`,
    call: `fs.copyFileSync('f', 'g')`,
    clean: `fs.rmSync('g', { force: true })`,
  },
  {
    name: 'a watch',
    ranges: { depth: [1, 1000], names: [1, 3000] },
    prepare: `fs.mkdirSync('d/'.repeat(p.depth), { recursive: true }); for (let n = 0; n < p.names;
n++) fs.mkdirSync('w/' + (n % 50) + '/' + n, { recursive: true });`,
    call: `fs.watch('.', { recursive: true }).close()`,
  },
  {
    name: 'a listing of descriptors',
    ranges: { open: [1, 3000] },
    options: ROOMY,
    prepare: `globalThis.all = Array.from({ length: p.open }, () => { try { return fs.openSync('/etc/passwd'); } catch {} });`,
    call: `fs.readdirSync('/proc/self/fd')`,
    clean: '',
  },
  {
    name: 'a text of /proc',
    ranges: { which: [0, 6], children: [0, 12] },
    options: ROOMY,
    prepare: `globalThis.kids = Array.from({ length: p.children }, () => spawn('node', ['-e', 'setInterval(() => {}, 1000)'],
{ env: Object.fromEntries(Array.from({ length: 3000 }, (_, n) => ['A' + n, 'x'.repeat(200)])) }).on('error', () => {}));`,
    call: `fs.readFileSync('/proc/' + ['self/environ', 'self/maps', 'self/status', 'mounts', 'meminfo', 'stat',
'self/stat'][p.which | 0])`,
    clean: `for (const kid of kids) kid.kill('SIGKILL')`,
  },
  {
    name: 'a search for a command',
    ranges: { entries: [1, 60000], links: [1, 12], dots: [1, 1990] },
    options: ROOMY,
    prepare: `for (let n = 0; n < p.links; n++) fs.symlinkSync('./'.repeat(p.dots) + 'l' + (n + 1), 'l' + n);
globalThis.env = { PATH: 'l0:'.repeat(p.entries) };`,
    call: `spawn('nope', [], { env }).on('error', () => {})`,
  },
  {
    name: 'a start with many variables',
    ranges: { names: [1, 30000], long: [0, 400] },
    options: ROOMY,
    prepare: `globalThis.env = Object.fromEntries(Array.from({ length: Math.min(p.names, 1.5e6 / (p.long + 8)) }, (_,
n) => ['A' + n, 'x'.repeat(p.long)]));`,
    call: `globalThis.kid = spawn('node', ['-e', '0'], { env, stdio: 'ignore' }).on('error', () => {})`,
    clean: `kid.kill('SIGKILL')`,
  },
  {
    name: 'a start with many arguments',
    ranges: { count: [1, 30000], long: [0, 400] },
    options: ROOMY,
    prepare: `globalThis.args = ['-e', '0', ...Array(Math.min(p.count | 0, 1.5e6 / (p.long + 8) | 0)).fill('x'.repeat(p.long))];`,
    call: `globalThis.kid = spawn('node', args, { stdio: 'ignore' }).on('error', () => {})`,
    clean: `kid.kill('SIGKILL')`,
  },
  {
    name: 'a script with a chain of interpreters',
    ranges: { chain: [1, 12], long: [1, 120], dots: [1, 60] },
    options: ROOMY,
    prepare: `for (let n = 0; n < p.chain; n++) fs.writeFileSync('s' + n, '#!' + '/workspace/' + './'.repeat(p.dots) + 's' + (n +
1) + ' ' + 'x'.repeat(p.long), { mode: 0o755 });`,
    call: `globalThis.kid = spawn('/workspace/s0').on('error', () => {})`,
    clean: `kid.kill('SIGKILL')`,
  },
  {
    name: 'a signal to a group',
    ranges: { children: [1, 40] },
    options: ROOMY,
    prepare: `globalThis.kids = Array.from({ length: p.children }, () => spawn('node', ['-e',
'process.on("SIGUSR2", () => {}); setInterval(() => {}, 1000)'], { stdio: 'ignore' }).on('error', () => {}));
process.on('SIGUSR2', () => {});`,
    call: `process.kill(0, 'SIGUSR2')`,
    clean: `for (const kid of kids) kid.kill('SIGKILL')`,
  },
  {
    name: 'a connection to a long name',
    ranges: { long: [1, 4000], depth: [1, 1000] },
    prepare: `fs.mkdirSync('d/'.repeat(p.depth), { recursive: true });`,
    call: `net.connect('d/../'.repeat(p.depth).slice(0, p.long) + 's').on('error', () => {})`,
  },
  {
    name: 'a listener among many',
    ranges: { listeners: [1, 200] },
    options: ROOMY,
    prepare: `globalThis.servers = Array.from({ length: p.listeners }, () => net.createServer().on('error',
() => {}).listen(0));`,
    call: `globalThis.one = net.createServer().on('error', () => {}).listen(0)`,
    clean: `one.close(); for (const server of servers) server.close()`,
  },
  {
    name: 'a digest',
    ranges: { kilobytes: [1, 20000], kind: [0, 4] },
    prepare: `globalThis.data = Buffer.alloc(p.kilobytes << 10);`,
    call: `crypto.createHash(['sha512', 'md5', 'sha3-512', 'blake2b512', 'ripemd160'][p.kind | 0]).update(data).digest()`,
  },
  {
    name: 'a cipher',
    ranges: { kilobytes: [1, 8000], kind: [0, 3] },
    prepare: `globalThis.data = Buffer.alloc(p.kilobytes << 10); globalThis.kind = ['aes-256-cbc', 'aes-256-gcm',
'chacha20-poly1305'][p.kind | 0] ?? 'aes-256-cbc';`,
    call: `crypto.createCipheriv(kind, Buffer.alloc(32), Buffer.alloc(kind === 'aes-256-cbc' ? 16 : 12),
{ authTagLength: 16 }).update(data)`,
  },
  {
    name: 'a signature',
    ranges: { bits: [512, 4096] },
    prepare: `globalThis.key = crypto.generateKeyPairSync('rsa', { modulusLength: (p.bits >> 3) << 3 }).privateKey;`,
    call: `crypto.sign('sha256', Buffer.alloc(100), key)`,
  },
  {
    name: 'a Diffie-Hellman secret',
    ranges: { group: [0, 5] },
    prepare: `globalThis.dh = crypto.createDiffieHellmanGroup(['modp5', 'modp14', 'modp15', 'modp16', 'modp17',
'modp18'][p.group | 0] ?? 'modp18'); dh.generateKeys();`,
    call: `dh.computeSecret(dh.getPublicKey())`,
  },
  {
    name: 'a check of a prime',
    ranges: { bits: [64, 8192], checks: [1, 60] },
    prepare: `globalThis.n = 2n ** BigInt(p.bits | 0) - 1n;`,
    call: `crypto.checkPrimeSync(n, { checks: p.checks | 0 })`,
  },
  { name: 'random bytes', ranges: { kilobytes: [1, 30000] }, call: `crypto.randomBytes(p.kilobytes << 10)` },
  {
    name: 'a copy of the environment',
    ranges: { names: [1, 5000], long: [1, 1000] },
    prepare: `for (let n = 0; n < p.names; n++) process.env['A' + n] = 'x'.repeat(p.long);`,
    call: `Object.keys(process.env).length`,
  },
];
