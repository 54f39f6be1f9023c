// Uses paths that climb above the root, or that name another path than the checked path.

import type { EscapeCase } from '../../harness/case.js';

export const dots: EscapeCase[] = [
  {
    name: 'dots above the root stay at the root',
    program: `
const up = '../'.repeat(1_000);
say(
  fs.realpathSync('/' + up),
  fs.readdirSync(up + '/').join() === fs.readdirSync('/').join(),
  tried(() => fs.readFileSync('/' + up + 'etc/shadow'))
);`,
    expected: '/ true ENOENT',
  },
  {
    name: 'dots through files, links and missing names fail',
    program: `
fs.writeFileSync('file', ''); fs.symlinkSync('/tmp', 'link'); fs.mkdirSync('/tmp/in');
say(
  tried(() => fs.statSync('file/../file')), tried(() => fs.statSync('none/../file')),
  tried(() => fs.statSync('link/../workspace/file').size), tried(() => fs.statSync('file/.'))
);`,
    expected: 'ENOTDIR ENOENT 0 ENOTDIR',
  },
  {
    name: 'a NUL does not truncate a path',
    program: `
const paths = ['/etc/passwd\\0.txt', Buffer.from('/etc/passwd\\0'), '\\0', '/workspace/\\0/../../etc/passwd'];
say(distinct(paths.flatMap((path) =>
  [tried(() => fs.readFileSync(path)), tried(() => fs.openSync(path)), tried(() => fs.mkdirSync(path))])));`,
    expected: 'ERR_INVALID_ARG_VALUE',
  },
  {
    name: 'invalid UTF-8 and overlong encodings of dot and slash are plain names',
    program: `
const paths = [[0x2f, 0xc0, 0xae, 0xc0, 0xae, 0x2f, 0x65], [0xc0, 0xaf], [0xff, 0xfe], [0x2e, 0x2e, 0xc0, 0xaf, 0x65]]
  .map((bytes) => Buffer.from(bytes));
say(distinct(paths.map((path) => tried(() => fs.readdirSync(path)))));
fs.writeFileSync(Buffer.from([0x61, 0xff]), 'x');
say(fs.readdirSync('.', 'buffer').some((name) => name.equals(Buffer.from([0x61, 0xff]))));`,
    expected: 'ENOENT\ntrue',
  },
  {
    name: 'file URLs with encoded slashes, hosts and dots fail',
    program: `
const urls = [
  'file://host/etc/passwd', 'file:///etc%2fpasswd', 'file:///%2e%2e/%2e%2e/etc/shadow', 'file:///etc/passwd%00',
  'http://localhost/etc/passwd'
];
say(urls.map((url) => tried(() => fs.readFileSync(new URL(url)))).join());`,
    expected: 'ERR_INVALID_FILE_URL_HOST,ERR_INVALID_FILE_URL_PATH,ENOENT,ERR_INVALID_ARG_VALUE,ERR_INVALID_URL_SCHEME',
  },
  {
    name: 'paths of every length around the limits fail or work',
    program: `
const long = (length) => ('/' + 'a/'.repeat(length)).slice(0, length);
say(
  [4_094, 4_095, 4_096, 65_536, 1 << 20].map((length) => tried(() => fs.statSync(long(length)))).join(),
  [255, 256, 4_000].map((length) => tried(() => fs.writeFileSync('n'.repeat(length), ''))).join()
);`,
    expected: 'ENOENT,ENOENT,ENAMETOOLONG,ENAMETOOLONG,ENAMETOOLONG done,ENAMETOOLONG,ENAMETOOLONG',
  },
  {
    name: 'a working directory thousands deep can be left',
    program: `
for (let i = 0; i < 3_000; i++) { fs.mkdirSync('d'); process.chdir('d'); }
say(
  tried(() => fs.readdirSync('../'.repeat(1_300) + '.').join()),
  tried(() => process.chdir('/')),
  tried(() => fs.rmSync('/workspace/d', { recursive: true, maxRetries: 0 }))
);`,
    execOptions: { timeout: 15_000 },
    expected: /^d done (done|ENAMETOOLONG|RangeError)$/,
  },
  {
    name: 'a removed working directory has no path',
    program: `
fs.mkdirSync('gone'); process.chdir('gone'); fs.rmdirSync('/workspace/gone');
say(
  tried(() => fs.writeFileSync('x', '')), tried(() => fs.readdirSync('.').length), tried(() => process.cwd()),
  tried(() => fs.statSync('../etc/shadow'))
);`,
    expected: /^ENOENT 0 (ENOENT|\/workspace\/gone) ENOENT$/,
  },
  {
    name: 'a listing of the whole tree contains no name of the host machine',
    program: `
let count = 0;
for (const folder of fs.readdirSync('/').filter((name) => !['proc', 'root'].includes(name)))
  for (const name of fs.readdirSync('/' + folder, { recursive: true })) { count++; console.log(folder, name); }
say('', fs.globSync('/**/*').length > 10, count > 10);`,
    expected: /true true$/,
  },
  {
    name: 'statfs reports the space of the runtime',
    program: `
const of = (path) => { const { bsize, blocks, files } = fs.statfsSync(path); return [bsize * blocks, files].join(); };
say(distinct(['/', '/tmp', '/m', '/m/dir'].map(of)));`,
    options: ({ inside }) => ({ mounts: [{ guestPath: '/m', hostPath: inside }] }),
    expected: /^67108864,1638[0-9]$/,
  },
];
