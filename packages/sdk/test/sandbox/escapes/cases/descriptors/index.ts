// Uses descriptors that are closed, unused, out of range, or belong to another program.

import type { EscapeCase, Theme } from '../../harness/case.js';

const EVERY_CALL = `
const everyCall = (fd) => [
  () => fs.readSync(fd, Buffer.alloc(8)), () => fs.writeSync(fd, 'x'), () => fs.fstatSync(fd), () => fs.ftruncateSync(fd, 0),
  () => fs.fchmodSync(fd, 0o777), () => fs.fsyncSync(fd), () => fs.futimesSync(fd, 1, 1), () => fs.fchownSync(fd, 0, 0),
  () => fs.closeSync(fd)
];`;

export const descriptors: Theme = {
  name: 'descriptors',
  cases: [
    {
      name: 'unused descriptor numbers fail',
      program: `
${EVERY_CALL}
const codes = new Set();
for (let fd = 3; fd < 1_100; fd++) for (const call of everyCall(fd)) codes.add(tried(call));
say([...codes].join());`,
      expected: 'EBADF',
    },
    {
      name: 'values that are not descriptors fail',
      program: `
${EVERY_CALL}
say(distinct([-1, -2147483648, 2147483648, 4294967295, 4294967299, 2 ** 53, 1.5, NaN, Infinity, -0.5, '3', {}, [3], 3n]
  .flatMap((fd) => everyCall(fd).map(tried))));`,
      expected: /^(?!.*done)[A-Z_ ]+$/,
    },
    {
      name: 'the largest descriptor numbers fail',
      program: `${EVERY_CALL} say(distinct([65_535, 65_536, 2 ** 24, 2147483647].flatMap((fd) => everyCall(fd).map(tried))));`,
      expected: 'EBADF',
    },
    {
      name: 'a closed descriptor is invalid and cannot be closed twice',
      program: `
const first = fs.openSync('/etc/passwd'); fs.closeSync(first);
const second = fs.openSync('/etc/hosts');
say(
  first === second, fs.readFileSync(first, 'utf8').includes('localhost'), tried(() => fs.closeSync(first)),
  tried(() => fs.closeSync(second))
);`,
      expected: 'true true done EBADF',
    },
    {
      name: 'files can take the numbers of closed standard streams',
      program: `
fs.closeSync(0); fs.closeSync(2);
const taken = [fs.openSync('/workspace/zero', 'w+'), fs.openSync('/workspace/two', 'w+')];
console.error('to the file'); fs.writeSync(0, 'zero');
say(
  taken.join(),
  fs.readFileSync('/workspace/two', 'utf8').includes('to the file'),
  tried(() => fs.readSync(1, Buffer.alloc(1)))
);`,
      expected: /^0,2 (true|false) EBADF$/,
    },
    {
      name: 'a descriptor cannot be used against its access mode',
      program: `
const write = fs.openSync('f', 'w'); const read = fs.openSync('/etc/passwd', 'r'); const folder = fs.openSync('/tmp', 'r');
say(
  tried(() => fs.readSync(write, Buffer.alloc(1))), tried(() => fs.writeSync(read, 'x')), tried(() => fs.writeSync(folder, 'x')),
  tried(() => fs.readSync(folder, Buffer.alloc(1))), tried(() => fs.ftruncateSync(read)), tried(() => fs.writeSync(0, 'x')),
  tried(() => fs.readSync(1, Buffer.alloc(1)))
);`,
      expected: 'EBADF EBADF EBADF EISDIR EINVAL EBADF EBADF',
    },
    {
      name: 'a descriptor opened for reading does not become writable',
      program: `
fs.writeFileSync('own', 'x'); fs.chmodSync('own', 0o400);
const system = fs.openSync('/etc/passwd'); const own = fs.openSync('own');
say(distinct([system, own].flatMap((fd) => ['/proc/self/fd/', '/dev/fd/'].flatMap((folder) => ['w', 'r+', 'a'].map((flags) =>
  tried(() => fs.openSync(folder + fd, flags)))))));`,
      expected: 'EACCES',
    },
    {
      name: 'a child cannot inherit a descriptor that its parent lacks',
      program: `
const { spawnSync, spawn } = require('child_process');
const see = "const fs = require('fs'); try { console.log(fs.fstatSync(3).isFile()); } catch (error) { console.log(error.code); }";
const outcome = (fd) => tried(() => {
  const { error, stdout } = spawnSync('node', ['-e', see], { stdio: ['ignore', 'pipe', 'pipe', fd] });
  return error ? error.code : String(stdout).trim();
});
say(distinct([999, 2147483647].map(outcome)), distinct([-1, -5].map(outcome)));`,
      expected: /^EBADF (ERR_INVALID_ARG_VALUE|ERR_OUT_OF_RANGE|EBADF|EINVAL|false)$/,
    },
    {
      name: 'sockets, pipes and terminals over wrong descriptors fail',
      program: `
const net = require('net'); const tty = require('tty');
const make = (fd) => [
  tried(() => new net.Socket({ fd }).destroy().destroyed),
  tried(() => new tty.ReadStream(fd)),
  tried(() => new tty.WriteStream(fd))
];
say(distinct([3, 50, 999, -1, 2147483647].flatMap(make)));`,
      expected: /^(?!.*(done|true|object))[A-Z_ ]+/,
    },
    {
      name: 'handles with forged numbers fail',
      execOptions: { execArgv: ['--expose-internals', '--no-warnings'] },
      program: `
const { internalBinding } = require('internal/test/binding');
const results = [];
for (const [name, classes] of [['tcp_wrap', ['TCP']], ['pipe_wrap', ['Pipe']], ['udp_wrap', ['UDP']], ['tty_wrap', ['TTY']]])
  for (const kind of classes)
    for (const fd of [-1, 3, 77, 1 << 20, 2147483647, -2147483648, NaN]) results.push(
      tried(() => { const handle = new (internalBinding(name)[kind])(fd, {}); return handle.open ? handle.open(fd) : 'none'; })
    );
say('tried', results.length);`,
      expected: 'tried 28',
    },
    {
      name: 'all descriptors can be used and returned',
      program: `
const open = []; let code;
for (;;) { code = tried(() => void open.push(fs.openSync('/etc/passwd'))); if (code !== 'done') break; }
say(
  code,
  open.length,
  tried(() => require('child_process').spawnSync('node', ['-e', '0']).error.code),
  tried(() => fs.readFileSync('/etc/hosts'))
);
open.forEach((fd) => fs.closeSync(fd)); say(fs.readFileSync('/etc/hosts', 'utf8').length > 0);`,
      expected: 'EMFILE 253 EMFILE EMFILE\ntrue',
    },
    {
      name: 'concurrent use and closing of a file handle settles',
      program: `
const handle = await fs.promises.open('f', 'w+');
const works = [
  handle.write('x'), handle.close(), handle.close(), handle.write('y'), handle.read(Buffer.alloc(1)), handle.stat(), handle.sync()
];
const settled = await Promise.allSettled(works);
say(settled.length, handle.fd, tried(() => fs.fstatSync(3)));`,
      expected: '7 -1 EBADF',
    },
    {
      name: 'positions beyond all bounds fail',
      program: `
const fd = fs.openSync('f', 'w+'); const buffer = Buffer.alloc(4);
const at = [2 ** 53 - 1, -1, 9223372036854775807n, -9223372036854775808n, 9223372036854775808n, -1n, 2n ** 70n, 1e300, -Infinity];
say(
  distinct(at.flatMap((position) =>
    [tried(() => fs.readSync(fd, buffer, 0, 4, position)), tried(() => fs.writeSync(fd, buffer, 0, 4, Number(position)))])),
  fs.fstatSync(fd).blocks < 1_000
);`,
      expected: /^[0-9A-Z_ ]+ true$/,
    },
  ] satisfies EscapeCase[],
};
