// Programs that use files: many, deep, large, watched, linked, mounted.

import type { HostileProgram } from './program.js';

const DENIED = { fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/secret', '**/hidden'] }] } } as const;

export const files: readonly HostileProgram[] = [
  {
    name: 'a storm of small files',
    code: `for (let n = 0; ; n++) { fs.writeFileSync('f' + (n % 5000), 'x'); fs.rmSync('f' + ((n * 7) % 5000), { force: true });
}`,
    isQuick: true,
  },
  {
    name: 'large files',
    code: `const data = Buffer.alloc(16 << 20, 1); for (;;) { fs.writeFileSync('f', data); fs.truncateSync('f', 0); }`,
  },
  {
    name: 'sparse files',
    code: `const fd = fs.openSync('f', 'w+'); for (let n = 0; ; n++) { quietly(() => fs.writeSync(fd, 'x',
(n * 1000003) % 2 ** 40)); if (n % 3000 === 0) fs.ftruncateSync(fd, 0); }`,
  },
  {
    name: 'a deep tree',
    code: `for (;;) { fs.mkdirSync('d/'.repeat(1900), { recursive: true }); for (let n = 0; n < 50;
n++) fs.statSync('d/'.repeat(1900)); fs.rmSync('d', { recursive: true }); }`,
    isQuick: true,
  },
  {
    name: 'a rename of a large tree',
    options: { permissions: DENIED },
    code: `for (let n = 0; n < 10000; n++) fs.mkdirSync('a/' + (n % 100) + '/' + n, { recursive: true });
for (;;) { fs.renameSync('a', 'b'); fs.renameSync('b', 'a'); }`,
  },
  { name: 'long paths with dots', code: `fs.mkdirSync('d'); for (;;) fs.statSync('d/../'.repeat(800));` },
  {
    name: 'long chains of links',
    options: { permissions: DENIED },
    code: `fs.mkdirSync('d/'.repeat(1900), { recursive: true }); process.chdir('d/'.repeat(1900)); fs.mkdirSync('d');
for (let n = 0; n < 5; n++) fs.symlinkSync('d/../'.repeat(800) + 'l' + (n + 1), 'l' + n);
for (;;) quietly(() => fs.statSync('l0'));`,
  },
  {
    name: 'a directory of many names',
    code: `for (let n = 0; n < 15000; n++) fs.writeFileSync('n' + n, ''); for (;;) fs.readdirSync('.');`,
  },
  {
    name: 'listings of a whole tree',
    code: `for (let n = 0; n < 5000; n++) fs.mkdirSync('t/' + (n % 70) + '/' + n, { recursive: true });
for (;;) fs.readdirSync('t', { recursive: true });`,
  },
  {
    name: 'removal of large trees',
    code: `for (;;) { for (let n = 0; n < 5000; n++) fs.mkdirSync('t/' + (n % 70) + '/' + n, { recursive: true });
fs.rmSync('t', { recursive: true }); }`,
  },
  { name: 'copies of files', code: `fs.writeFileSync('a', Buffer.alloc(24 << 20)); for (;;) fs.copyFileSync('a', 'b');` },
  {
    name: 'a storm of watches',
    code: `fs.mkdirSync('w'); const all = []; for (let n = 0; n < 200; n++) quietly(() => all.push(fs.watch('w', () => {})));
for (let n = 0; ; n++) { fs.writeFileSync('w/f' + (n % 50), 'x'); if (n % 100 === 0) await tick(); }`,
    isQuick: true,
  },
  {
    name: 'reads of /proc',
    code: `for (;;) for (const name of ['self/environ', 'self/maps', 'meminfo', 'self/status', 'mounts',
'self/cmdline']) quietly(() => fs.readFileSync('/proc/' + name));`,
  },
  {
    name: 'locks of permissions: many rules',
    options: {
      permissions: {
        fs: {
          default: 'allow',
          rules: Array.from({ length: 1_000 }, (_, n) => ({ mode: 'deny' as const, paths: [`**/x${n}/**/y*`] })),
        },
      },
    },
    code: `fs.mkdirSync('a/'.repeat(500), { recursive: true }); for (;;) quietly(() => fs.statSync('a/'.repeat(500)));`,
  },
  {
    name: 'files of a full file system',
    code: `const fd = fs.openSync('f', 'w'); for (;;) quietly(() => fs.writeSync(fd, Buffer.alloc(1 << 20)));`,
  },
  {
    name: 'archives of the app',
    calls: async (runtime) => {
      for await (const _chunk of runtime.exportTar('/'));
    },
  },
  {
    name: 'reads of large files by the app',
    calls: async (runtime) => {
      await runtime.writeFile('/tmp/f', Buffer.alloc(8 << 20));
      await runtime.readFile('/tmp/f');
    },
  },
];
