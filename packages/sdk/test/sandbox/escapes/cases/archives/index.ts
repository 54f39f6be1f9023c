// Imports hostile archives: names and links that lead out, wrong sizes, bombs, changes of the tree
// during the import.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { NodeRuntime, NodeRuntimeOptions } from '../../../../../src/index.js';
import type { EscapeCase, Theme } from '../../harness/case.js';
import { mounted, unchanged } from '../mounts/kinds.js';
import { archive, type Entry, entry, pax } from './tar.js';

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error) => String(error.code ?? error),
  );

/** Returns every path below `/tmp/t` with its type and the first letters of its content. */
const LIST = `
import fs from 'node:fs';
const walk = (path) => fs.readdirSync(path).sort().flatMap((name) => {
  const at = path + '/' + name;
  const stat = fs.lstatSync(at);
  const shown = stat.isSymbolicLink() ? ' -> ' + fs.readlinkSync(at) : stat.isFile() ? '=' + fs.readFileSync(at,
'latin1').slice(0, 10) : '/';
  return [JSON.stringify(at.slice(7)) + shown, ...(stat.isDirectory() ? walk(at) : [])];
});
console.log(walk('/tmp/t').join(), fs.readFileSync('/etc/passwd', 'utf8').includes('evil'), fs.readdirSync('/tmp').join());`;

const list = async (runtime: NodeRuntime): Promise<string> => {
  const { stdout, stderr } = await runtime.exec(LIST);
  return (stdout + stderr.slice(0, 200)).trim();
};

/** Unpacks an archive at `/tmp/t`, and returns the code of the error and the tree. */
const unpacks = (
  name: string,
  source: () => Uint8Array,
  expected: string | RegExp,
  options: NodeRuntimeOptions = {},
): EscapeCase => ({
  name: `archives: ${name}`,
  options,
  attack: async (runtime) => {
    await runtime.mkdir('/tmp/t');
    const code = await codeOf(runtime.importTar(source(), { path: '/tmp/t' }));
    return `${code} ${await list(runtime)}`;
  },
  expected,
});

const of = (name: string, entries: Entry[], expected: string | RegExp): EscapeCase =>
  unpacks(name, () => archive(...entries), expected);

const evil = { body: 'evil' };

const names: EscapeCase[] = [
  of('an absolute name is refused', [{ name: '/etc/passwd', ...evil }], 'ERR_ARCHIVE false t'),
  of('a climbing name is refused', [{ name: 'a/../../evil', ...evil }], 'ERR_ARCHIVE false t'),
  of('a climbing prefix is refused', [{ prefix: '../..', name: 'evil', ...evil }], 'ERR_ARCHIVE false t'),
  of('a backslash is a letter', [{ name: '..\\..\\evil', ...evil }], 'done "..\\\\..\\\\evil"=evil false t'),
  of('a NUL ends a name', [{ name: 'a\0/../../evil', ...evil }], 'done "a"=evil false t'),
  of('a line feed and an escape stay in a name', [{ name: 'a\n\x1b[2J', ...evil }], 'done "a\\n\\u001b[2J"=evil false t'),
  of(
    'names of letters in both cases are two files',
    [
      { name: 'A', body: '1' },
      { name: 'a', body: '2' },
    ],
    'done "A"=1,"a"=2 false t',
  ),
  of(
    'a name of dots alone is refused or empty',
    [
      { name: '.', type: '0', ...evil },
      { name: '..', ...evil },
    ],
    'ERR_ARCHIVE false t',
  ),
  of('an empty name is refused', [{ name: '', ...evil }], 'ERR_ARCHIVE false t'),
  of(
    'a second file of one name replaces the first',
    [
      { name: 'a', body: '1' },
      { name: 'a', body: '2' },
    ],
    'done "a"=2 false t',
  ),
  of(
    'a file does not replace a directory',
    [
      { name: 'a/', type: '5' },
      { name: 'a/b', body: '1' },
      { name: 'a', ...evil },
    ],
    'ERR_ARCHIVE "a"/,"a/b"=1 false t',
  ),
  of(
    'a directory does not replace a file',
    [
      { name: 'a', body: '1' },
      { name: 'a/', type: '5' },
    ],
    'ERR_ARCHIVE "a"=1 false t',
  ),
  of(
    'a name of pax that climbs is refused',
    [
      { type: 'x', body: pax('path', '../../evil') },
      { name: 'a', ...evil },
    ],
    'ERR_ARCHIVE false t',
  ),
  of(
    'an absolute name of pax is refused',
    [
      { type: 'x', body: pax('path', '/etc/passwd') },
      { name: 'a', ...evil },
    ],
    'ERR_ARCHIVE false t',
  ),
  of(
    'a global header of pax names no file outside',
    [
      { type: 'g', body: pax('path', '../evil') },
      { name: 'a', body: '1' },
    ],
    'done "a"=1 false t',
  ),
  of(
    'a long name that climbs is refused',
    [
      { type: 'L', name: '././@LongLink', body: `${'a/'.repeat(100)}${'../'.repeat(150)}evil\0` },
      { name: 'a', ...evil },
    ],
    'ERR_ARCHIVE false t',
  ),
  of(
    'a name of pax with a NUL is refused or cut',
    [
      { type: 'x', body: pax('path', 'a\0b') },
      { name: 'x', ...evil },
    ],
    'ERR_ARCHIVE false t',
  ),
  of(
    'a name deeper than a path is refused',
    [
      { type: 'x', body: pax('path', 'd/'.repeat(5000)) },
      { name: 'x', ...evil },
    ],
    'ENAMETOOLONG false t',
  ),
];

const links: EscapeCase[] = [
  of(
    'a link is not followed by a later entry',
    [
      { name: 'l', type: '2', link: '/etc' },
      { name: 'l/passwd', ...evil },
    ],
    'ERR_ARCHIVE "l" -> /etc false t',
  ),
  of(
    'a link of two steps is not followed',
    [
      { name: 'a', type: '2', link: '.' },
      { name: 'b', type: '2', link: 'a/..' },
      { name: 'b/evil', ...evil },
    ],
    'ERR_ARCHIVE "a" -> .,"b" -> a/.. false t',
  ),
  of(
    'a file replaces a link and does not write through it',
    [
      { name: 'l', type: '2', link: '/tmp/outside' },
      { name: 'l', body: 'own' },
    ],
    'done "l"=own false t',
  ),
  of(
    'a directory entry does not open a link',
    [
      { name: 'l', type: '2', link: '/tmp' },
      { name: 'l/', type: '5' },
      { name: 'l/evil', ...evil },
    ],
    'ERR_ARCHIVE "l" -> /tmp false t',
  ),
  of('a hard link to a climbing name is refused', [{ name: 'h', type: '1', link: '../../etc/passwd' }], 'ERR_ARCHIVE false t'),
  of('a hard link to an absolute name is refused', [{ name: 'h', type: '1', link: '/etc/passwd' }], 'ERR_ARCHIVE false t'),
  of(
    'a hard link through a link is refused',
    [
      { name: 'l', type: '2', link: '/etc' },
      { name: 'h', type: '1', link: 'l/passwd' },
    ],
    'ERR_ARCHIVE "l" -> /etc false t',
  ),
  of(
    'a hard link to a link does not follow the link',
    [
      { name: 'l', type: '2', link: '/etc/passwd' },
      { name: 'h', type: '1', link: 'l' },
      { name: 'h', body: 'own' },
    ],
    'done "h"=own,"l" -> /etc/passwd false t',
  ),
  of(
    'a target of pax that climbs is refused for a hard link',
    [
      { type: 'x', body: pax('linkpath', '../../etc/passwd') },
      { name: 'h', type: '1', link: 'a' },
    ],
    'ERR_ARCHIVE false t',
  ),
  of('devices and pipes are refused', [{ name: 'd', type: '3' }], 'ERR_ARCHIVE false t'),
  of('a block device is refused', [{ name: 'd', type: '4' }], 'ERR_ARCHIVE false t'),
  of('a named pipe is refused', [{ name: 'd', type: '6' }], 'ERR_ARCHIVE false t'),
  of('set-id bits are dropped', [{ name: 'tool', mode: 0o6755, body: 'x' }], /^done "tool"=x false t$/),
];

const sizes: EscapeCase[] = [
  of('a size beyond the archive is refused', [{ name: 'a', size: '77777777777\0', body: 'x' }], 'ERR_ARCHIVE false t'),
  of('a negative size is refused', [{ name: 'a', size: '-0000000001\0', body: 'x' }], 'ERR_ARCHIVE false t'),
  of('a size that is no number is refused', [{ name: 'a', size: 'xxxxxxxxxxx\0', body: 'x' }], 'ERR_ARCHIVE false t'),
  of('a binary size of 2^63 is refused', [{ name: 'a', size: '\x80\0\0\0\x80\0\0\0\0\0\0\0', body: 'x' }], 'ERR_ARCHIVE false t'),
  of('a negative binary size is refused', [{ name: 'a', size: '\xff'.repeat(12), body: 'x' }], 'ERR_ARCHIVE false t'),
  of(
    'a size of pax beyond 64 bits is refused',
    [
      { type: 'x', body: pax('size', '99999999999999999999999') },
      { name: 'a', body: 'x' },
    ],
    'ERR_ARCHIVE false t',
  ),
  of(
    'a negative size of pax is refused',
    [
      { type: 'x', body: pax('size', '-1') },
      { name: 'a', body: 'x' },
    ],
    'ERR_ARCHIVE false t',
  ),
  of(
    'a record of pax with a wrong length is refused',
    [
      { type: 'x', body: pax('path', 'a', 3) },
      { name: 'a', body: 'x' },
    ],
    'ERR_ARCHIVE false t',
  ),
  of(
    'a record of pax with a length of 2^64 is refused',
    [
      { type: 'x', body: '18446744073709551616 path=a\n' },
      { name: 'a', body: 'x' },
    ],
    'ERR_ARCHIVE false t',
  ),
  of(
    'a record of pax beyond the limit is refused',
    [
      { type: 'x', body: pax('comment', 'x'.repeat(3 << 20)) },
      { name: 'a', body: 'x' },
    ],
    'ERR_ARCHIVE false t',
  ),
  of(
    'a long name beyond the limit is refused',
    [
      { type: 'L', body: 'x'.repeat(3 << 20) },
      { name: 'a', body: 'x' },
    ],
    'ERR_ARCHIVE false t',
  ),
  of('a wrong checksum is refused', [{ name: 'a', checksum: '0000000\0', body: 'x' }], 'ERR_ARCHIVE false t'),
  of(
    'a sparse file of 2^60 bytes is refused or stays sparse',
    [
      {
        type: 'x',
        body:
          pax('GNU.sparse.major', '1') +
          pax('GNU.sparse.minor', '0') +
          pax('GNU.sparse.realsize', String(2 ** 60)) +
          pax('GNU.sparse.name', '../evil'),
      },
      { name: 'a', body: `${'1\n0\n1\n'.padEnd(512, '\0')}x` },
    ],
    'ERR_ARCHIVE false t',
  ),
  of(
    'parts of a sparse file that overlap are refused',
    [
      {
        type: 'x',
        body:
          pax('GNU.sparse.major', '1') +
          pax('GNU.sparse.minor', '0') +
          pax('GNU.sparse.realsize', '10') +
          pax('GNU.sparse.name', 's'),
      },
      { name: 'a', body: `${'2\n0\n5\n3\n5\n'.padEnd(512, '\0')}xxxxxxxxxx` },
    ],
    'ERR_ARCHIVE false t',
  ),
  of(
    'an endless list of sparse parts is refused',
    [
      {
        type: 'x',
        body:
          pax('GNU.sparse.major', '1') +
          pax('GNU.sparse.minor', '0') +
          pax('GNU.sparse.realsize', '10') +
          pax('GNU.sparse.name', 's'),
      },
      { name: 'a', body: `99999999999999\n${'0\n0\n'.repeat(400_000)}` },
    ],
    'ERR_ARCHIVE false t',
  ),
  unpacks('an archive without an end is refused', () => entry({ name: 'a', body: 'x' }), 'ERR_ARCHIVE "a"=x false t'),
  unpacks(
    'an archive that ends in a header is refused',
    () => archive({ name: 'a', body: 'x' }).subarray(0, 200),
    'ERR_ARCHIVE false t',
  ),
  unpacks(
    'an archive that ends in a file is refused',
    () => archive({ name: 'a', body: 'x'.repeat(5_000) }).subarray(0, 2_000),
    'ERR_ARCHIVE false t',
  ),
  unpacks(
    'a compressed bomb ends at the limit of bytes',
    () => gzipSync(archive({ name: 'a', body: Buffer.alloc(30 << 20) })),
    'ENOSPC false t',
    { limits: { filesystemBytes: 1 << 20 } },
  ),
  unpacks(
    'a compressed bomb of names ends at the limit of files',
    () => gzipSync(Buffer.concat([...Array.from({ length: 3_000 }, (_, n) => entry({ name: `f${n}` })), Buffer.alloc(1_024)])),
    /^ENOSPC /,
    { limits: { inodes: 500 } },
  ),
  unpacks(
    'a compressed archive in a compressed archive is not unpacked twice',
    () => gzipSync(gzipSync(archive({ name: '../evil', ...evil }))),
    'ERR_ARCHIVE false t',
  ),
  unpacks(
    'compressed bytes that end early are refused',
    () => gzipSync(archive({ name: 'a', body: 'x' })).subarray(0, 60),
    /^Z_BUF_ERROR ("a"=x )?false t$/,
  ),
];

const outside = unchanged();

/** The errors of five archives. An overlay keeps the fifth archive in memory. */
const OUTCOMES = {
  writable: 'ERR_ARCHIVE,EACCES,ERR_ARCHIVE,ERR_ARCHIVE,EACCES',
  overlay: 'ERR_ARCHIVE,ERR_ARCHIVE,ERR_ARCHIVE,ERR_ARCHIVE,done',
  'read-only': 'ERR_ARCHIVE,EROFS,ERR_ARCHIVE,ERR_ARCHIVE,EROFS',
};

const inMounts: EscapeCase[] = (['writable', 'overlay', 'read-only'] as const).map((kind) => ({
  name: `archives: ${kind}: no entry leaves a mounted folder`,
  options: mounted(kind),
  prepare: outside.remember,
  attack: async (runtime) => {
    const sources = [
      archive({ name: '../outside/protected', ...evil }),
      archive({ name: 'l', type: '2', link: '../outside' }, { name: 'l/protected', ...evil }),
      archive({ name: 'h', type: '1', link: '../outside/protected' }),
      archive({ name: 'dir', type: '2', link: '../outside' }),
      archive({ name: 'x', type: '2', link: '../outside/protected' }, { name: 'x', ...evil }),
    ];
    const codes = [];
    for (const source of sources) codes.push(await codeOf(runtime.importTar(source, { path: '/m' })));
    return codes.join();
  },
  expected: OUTCOMES[kind],
  after: outside.after,
}));

export const archives: Theme = {
  name: 'archives',
  cases: [
    ...names,
    ...links,
    ...sizes,
    ...inMounts,
    {
      name: 'archives: a program that swaps folders for links during an import leads no entry out',
      options: mounted('writable'),
      prepare: outside.remember,
      attack: async (runtime) => {
        const swap = await runtime.spawn(`import fs from 'node:fs';
for (let n = 0; ; n++) {
  try { fs.rmSync('/m/a', { recursive: true, force: true }); fs.symlinkSync('/tmp', '/m/a'); fs.unlinkSync('/m/a');
fs.mkdirSync('/m/a'); } catch {}
  if (n === 5) console.log('swapping');
  if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
}`);
        for await (const _first of swap.stdout) break;
        const source = archive(...Array.from({ length: 30 }, (_, n) => ({ name: `a/evil${n}`, body: 'evil' })));
        for (let n = 0; n < 20; n++) await codeOf(runtime.importTar(source, { path: '/m' }));
        await swap.kill('SIGKILL');
        return (await runtime.readDir('/tmp')).join();
      },
      expected: '',
      after: outside.after,
    },
    {
      name: 'archives: an exported tree has no file behind a link or below /proc',
      options: mounted('read-only'),
      prepare: ({ inside, outside: folder }) => writeFileSync(join(inside, 'path'), folder),
      attack: async (runtime) => {
        await runtime.exec(
          `import fs from 'node:fs'; fs.mkdirSync('e'); fs.symlinkSync('/etc/passwd', 'e/l'); fs.symlinkSync('/proc/self',
'e/p'); fs.symlinkSync('/', 'e/r');`,
        );
        const chunks: Uint8Array[] = [];
        for await (const chunk of runtime.exportTar('/workspace/e')) chunks.push(chunk);
        const bytes = Buffer.concat(chunks);
        return `${bytes.length < 20_000} ${bytes.includes('root:')}`;
      },
      expected: 'true false',
    },
    {
      name: 'archives: the tar command of a guest writes nothing outside of its directory',
      attack: async (runtime) => {
        await runtime.mkdir('/tmp/t');
        const sources: Record<string, Buffer> = {
          absolute: archive({ name: '/tmp/evil', ...evil }),
          climbing: archive({ name: '../evil', ...evil }),
          link: archive({ name: 'l', type: '2', link: '/tmp' }, { name: 'l/evil', ...evil }),
          hard: archive({ name: 'h', type: '1', link: '/etc/passwd' }),
        };
        for (const [name, bytes] of Object.entries(sources)) await runtime.writeFile(`/workspace/${name}.tar`, bytes);
        await runtime.execCommand('sh', ['-c', 'for f in *.tar; do (cd /tmp/t && tar -xf /workspace/$f); done; true'], {
          timeout: 10_000,
        });
        return (await runtime.readDir('/tmp')).join();
      },
      expected: 't',
    },
  ],
};
