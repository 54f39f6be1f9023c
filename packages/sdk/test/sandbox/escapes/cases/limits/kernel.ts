// Exceeds limits of the kernel's objects: files, descriptors, processes, pipes, sockets, watches,
// contexts.

import type { EscapeCase } from '../../harness/case.js';

const until = `
const until = (work, most = 1e6) => {
  for (let i = 0; i < most; i++) { const code = tried(work); if (/^E[A-Z]/.test(code)) return code + ' after ' + i; }
  return 'no end';
};`;

export const kernel: EscapeCase[] = [
  {
    name: 'filesystemBytes limits the bytes of files',
    options: { limits: { filesystemBytes: 1 << 20 } },
    program: `${until} const fd = fs.openSync('f', 'w'); const part = Buffer.alloc(1 << 16);
say(
  until(() => fs.writeSync(fd, part)), tried(() => fs.writeFileSync('g', 'x')), tried(() => fs.symlinkSync('x', 'l')),
  tried(() => fs.copyFileSync('f', 'h'))
);
fs.ftruncateSync(fd);
say(tried(() => fs.writeFileSync('g', 'x')));`,
    expected: 'ENOSPC after 16 ENOSPC ENOSPC ENOSPC\ndone',
  },
  {
    name: 'inodes limits files and names',
    options: { limits: { inodes: 100 } },
    program: `
${until}
let n = 0;
say(
  until(() => fs.mkdirSync('d' + n++)).startsWith('ENOSPC'), n <= 101, tried(() => fs.writeFileSync('x', '')),
  tried(() => fs.linkSync('/etc/passwd', 'l')), tried(() => fs.symlinkSync('a', 'b'))
);`,
    expected: /^true true ENOSPC (ENOSPC|EPERM) ENOSPC$/,
  },
  {
    name: 'removed files that are open count for the limits',
    options: { limits: { filesystemBytes: 1 << 20, inodes: 40 } },
    program: `
${until}
let n = 0;
say(until(() => { const name = 'f' + n++; fs.openSync(name, 'w'); fs.unlinkSync(name); }).split(' ')[0]);`,
    expected: 'ENOSPC',
  },
  {
    name: 'scattered bytes cost the memory that they use',
    options: { limits: { filesystemBytes: 1 << 20 } },
    program: `const fd = fs.openSync('f', 'w'); let n = 0; let code = 'done';
for (; n < 60_000 && code !== 'ENOSPC'; n++) code = tried(() => void fs.writeSync(fd, 'x', n * 65_536));
say(code, n < 20_000);`,
    expected: 'ENOSPC true',
  },
  {
    name: 'descriptors limits one program',
    options: { limits: { descriptors: 10 } },
    program: `
${until}
say(
  until(() => void fs.openSync('/etc/passwd')),
  await event(require('net').createServer().listen(0), 'listening', 'error'),
  tried(() => fs.opendirSync('/tmp'))
);`,
    expected: 'EMFILE after 7 EMFILE EMFILE',
  },
  {
    name: 'processes limits a fork bomb',
    options: { limits: { processes: 12 } },
    program: `
fs.writeFileSync(
  'bomb.js',
  "const { spawn } = require('child_process'); " +
    "for (;;) { const child = spawn('node', ['/workspace/bomb.js'], { stdio: 'ignore' }); child.on('error', () => {}); " +
    "if (child.pid === undefined) break; } setInterval(() => {}, 1000);"
);
const { spawn } = require('child_process'); const codes = new Set();
for (let i = 0; i < 20; i++) spawn('node', ['bomb.js'], { stdio: 'ignore' }).on('error', (error) => codes.add(error.code));
await new Promise((resolve) => setTimeout(resolve, 300));
say([...codes].join(), fs.readdirSync('/proc').filter((name) => /^\\d/.test(name)).length <= 12);
process.exit();`,
    expected: 'EAGAIN true',
  },
  {
    name: 'processes limits detached children',
    options: { limits: { processes: 8 } },
    program: `
const { spawn } = require('child_process');
const codes = new Set();
for (let i = 0; i < 30; i++)
  spawn('node', ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached: true }).on('error',
(error) => codes.add(error.code)).unref();
await new Promise((resolve) => setTimeout(resolve, 200));
say([...codes].join());
process.exit();`,
    expected: 'EAGAIN',
  },
  {
    name: 'sockets limits the runtime',
    options: { limits: { descriptors: 2_000 } },
    program: `
const net = require('net');
const codes = new Set();
const server = net.createServer(() => {});
await new Promise((resolve) => server.listen(0, resolve));
await Promise.all(Array.from({ length: 400 }, () => new Promise((resolve) => {
  const socket = net.connect(server.address().port);
  socket.on('error', (error) => { codes.add(error.code); resolve(); }).on('connect', resolve);
  setTimeout(resolve, 500);
})));
say([...codes].join());
process.exit();`,
    expected: /^(ENFILE|EMFILE|ENOBUFS)(,E[A-Z]+)*$/,
  },
  {
    name: 'pipes limits the runtime',
    options: { limits: { descriptors: 4_000, processes: 400 } },
    program: `
const { spawn } = require('child_process');
const codes = new Set();
for (let i = 0; i < 380; i++) tried(() => spawn('node', ['-e', 'setInterval(() => {}, 1000)'], {
  stdio: ['pipe', 'pipe', 'pipe', 'pipe']
}).on('error', (error) => codes.add(error.code)));
await new Promise((resolve) => setTimeout(resolve, 100));
say([...codes].join());
process.exit();`,
    expected: /^(ENFILE|EAGAIN|EMFILE)(,E[A-Z]+)*$/,
  },
  {
    name: 'unread bytes of a connection are bounded',
    program: `
const net = require('net');
const server = net.createServer((socket) => socket.pause());
await new Promise((resolve) => server.listen(0, resolve));
const socket = net.connect(server.address().port);
let written = 0;
const part = Buffer.alloc(1 << 20);
await event(socket, 'connect');
while (socket.write(part) || written < 8) written++;
await new Promise((resolve) => setTimeout(resolve, 50));
say(socket.bytesWritten > 0, socket.writableLength > 4 << 20);
process.exit();`,
    expected: 'true true',
  },
  {
    name: 'unreceived datagrams are bounded',
    program: `
const dgram = require('dgram');
const to = dgram.createSocket('udp4');
await new Promise((resolve) => to.bind(0, '127.0.0.1', resolve));
const from = dgram.createSocket('udp4');
const part = Buffer.alloc(60_000);
const { port } = to.address();
for (let i = 0; i < 3_000; i++) {
  from.send(part, port, '127.0.0.1', () => {});
  if (i % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
}
say('sent');
process.exit();`,
    expected: 'sent',
  },
  {
    name: 'unaccepted connections are bounded',
    program: `
const net = require('net');
const server = net.createServer();
await new Promise((resolve) => server.listen({ port: 0, backlog: 2 ** 31 - 1 }, resolve));
const { port } = server.address();
let failed = 0;
const works = Array.from({ length: 600 }, () => new Promise((resolve) => {
  const socket = net.connect(port);
  socket.on('error', () => { failed++; resolve(); }).on('connect', resolve);
  setTimeout(resolve, 5000);
}));
await Promise.all(works);
say(failed > 0);
process.exit();`,
    expected: 'true',
  },
  {
    name: 'watches limits the runtime',
    program: `
${until}
let n = 0;
fs.mkdirSync('w');
say(until(() => { const name = 'w/' + n++; fs.writeFileSync(name, ''); fs.watch(name).on('error', () => {}); }, 3_000));
process.exit();`,
    expected: /^ENOSPC after \d+$/,
  },
  {
    name: 'unread events of a watch are bounded',
    program: `
fs.watch('/workspace').on('error', () => {});
for (let i = 0; i < 30_000; i++) fs.writeFileSync('n'.repeat(200) + (i % 500), '');
say('watched');
process.exit();`,
    expected: 'watched',
  },
  {
    name: 'unfinished digests are bounded',
    program: `
${until}
const crypto = require('crypto');
const all = [];
say(until(() => void all.push(crypto.createHash('sha256')), 20_000).split(' ').slice(0, 1).join() || 'none');
say('begun');`,
    expected: { stdout: /^(ERR_[A-Z_]+|E[A-Z]+|no|none)\nbegun$/ },
  },
  {
    name: 'thousands of long computations are bounded',
    program: `
const crypto = require('crypto');
let done = 0;
let failed = '';
for (let i = 0; i < 20_000; i++)
  try { crypto.pbkdf2('a', 'b', 1, 8, 'sha1', () => done++); } catch (error) { failed = error.code ?? error.name; break; }
await new Promise((resolve) => setTimeout(resolve, 100));
say(done > 0, failed === '' || /^E/.test(failed));
process.exit();`,
    expected: 'true true',
  },
];
