// Attacks app file systems from both sides: a program with hostile names, and an app with hostile
// results. A method of the app may also call the runtime again, or end it.

import { createMemoryFileSystem, type FileSystem, type NodeRuntime } from '../../../../../src/index.js';
import type { EscapeCase, Theme } from '../../harness/case.js';
import { PRELUDE } from '../../harness/prelude.js';

const file = { type: 'file', size: 3 } as const;
const directory = { type: 'directory', size: 0 } as const;

const answering = (values: object): FileSystem => ({
  stat: (path) => (path === '/' ? directory : file),
  readDir: () => [],
  read: (_path, offset) => Buffer.from('abc').subarray(offset),
  ...values,
});

const code = async (runtime: NodeRuntime, program: string): Promise<string> => {
  const { stdout, stderr, error } = await runtime.exec(`${PRELUDE}\n${program}`, { timeout: 15_000 });
  return (stdout + (error?.code ?? '') + stderr.slice(0, 300)).trim();
};

const CALLS = `say(distinct([
  () => fs.readdirSync('/a').length, () => fs.statSync('/a/f').size, () => fs.readFileSync('/a/f', 'latin1').length,
() => fs.writeFileSync('/a/f', 'x'),
  () => fs.readlinkSync('/a/l'), () => fs.realpathSync('/a/f'), () => fs.mkdirSync('/a/d'), () => fs.renameSync('/a/f', '/a/g')
].map(tried)));`;

/** A case whose app file system returns hostile values. */
const returns = (name: string, values: object, expected: string | RegExp, program = CALLS): EscapeCase => ({
  name: `file systems: ${name}`,
  options: { mounts: [{ guestPath: '/a', fileSystem: answering(values), timeout: 1_000 }] },
  program,
  expected,
});

const secret = (): never => {
  throw new Error('/home/user/secret-token');
};

const evilObject = (): object =>
  new Proxy(
    {},
    {
      get: (_target, name) => (name === 'then' ? undefined : secret()),
    },
  );

const answers: EscapeCase[] = [
  returns(
    'names with slashes, dots and NULs are errors',
    {
      readDir: () => [
        { name: '../x', type: 'file' },
        { name: 'a\0b', type: 'file' },
      ],
    },
    '/a/f 3 EEXIST EINVAL EIO EROFS',
  ),
  returns('an empty name is an error', { readDir: () => [{ name: '', type: 'file' }] }, '/a/f 3 EEXIST EINVAL EIO EROFS'),
  returns(
    'two entries with one name are contained',
    {
      readDir: () => [
        { name: 'x', type: 'file' },
        { name: 'x', type: 'directory' },
      ],
    },
    '/a/f 2 3 EEXIST EINVAL EROFS',
  ),
  returns(
    'a hundred thousand names are a list',
    { readDir: () => Array.from({ length: 100_000 }, (_, n) => ({ name: `n${n}`, type: 'file' })) },
    '/a/f 100000 3 EEXIST EINVAL EROFS',
  ),
  returns(
    'a name of a megabyte is an error',
    { readDir: () => [{ name: 'x'.repeat(1 << 20), type: 'file' }] },
    '/a/f 3 EEXIST EINVAL EIO EROFS',
  ),
  ...[-1, 2 ** 60, Number.NaN, Number.POSITIVE_INFINITY, 1.5, '3', 2n].map((size) =>
    returns(
      `a size ${String(size)} (${typeof size}) is an error`,
      { stat: (path: string) => (path === '/' ? directory : { type: 'file', size }) },
      'EIO',
      `say(tried(() => fs.statSync('/a/f').size));`,
    ),
  ),
  returns(
    'a size of an exabyte allocates nothing',
    { stat: (path: string) => (path === '/' ? directory : { type: 'file', size: 2 ** 52 }), read: () => new Uint8Array(0) },
    '4503599627370496 ERR_FS_FILE_TOO_LARGE',
    `say(tried(() => fs.statSync('/a/f').size), tried(() => fs.readFileSync('/a/f').length));`,
  ),
  returns(
    'more bytes than a read asked for are an error',
    { read: () => Buffer.alloc(3 << 20) },
    'EIO EIO',
    `say(tried(() => fs.readFileSync('/a/f').length), tried(() => fs.readSync(fs.openSync('/a/f'), Buffer.alloc(2))));`,
  ),
  returns(
    'reads that never end are bounded by the size',
    { read: (_path: string, _offset: number, length: number) => Buffer.alloc(length) },
    '3',
    `say(tried(() => fs.readFileSync('/a/f').length));`,
  ),
  returns(
    'results that are shared memory or detached are contained',
    {
      read: () => {
        const buffer = new ArrayBuffer(8);
        structuredClone(buffer, { transfer: [buffer] });
        return new Uint8Array(buffer);
      },
    },
    'EIO',
    `say(tried(() => fs.readFileSync('/a/f').length));`,
  ),
  returns(
    'objects with throwing getters are errors without text',
    { stat: evilObject, readDir: evilObject, read: evilObject },
    'EIO',
    `
const seen = []; for (const call of [() => fs.statSync('/a/f'), () => fs.readdirSync('/a'), () => fs.readFileSync('/a/f')])
  try { call(); } catch (error) { seen.push(error.code); if (require('util').inspect(error, { showHidden: true,
depth: 9 }).includes('token')) seen.push('LEAK'); }
say(distinct(seen));`,
  ),
  returns(
    'a text of an error does not reach the program',
    {
      stat: secret,
      readDir: () => Promise.reject(Object.assign(new Error('/home/user/secret-token'), { code: 'EACCES', path: '/home/user' })),
    },
    'EIO EACCES',
    `
const seen = []; for (const call of [() => fs.statSync('/a/f'), () => fs.readdirSync('/a')])
  try { call(); } catch (error) { seen.push(error.code); if (/home.user/.test(require('util').inspect(error, { showHidden: true,
depth: 9 }))) seen.push('LEAK'); }
say(seen.join(' '));`,
  ),
  returns(
    'a link leads into the tree of the guest',
    { stat: (path: string) => (path === '/' ? directory : { type: 'symlink', size: 1 }), readlink: () => '/etc/shadow' },
    'ENOENT /etc/shadow',
    `say(tried(() => fs.readFileSync('/a/l')), tried(() => fs.readlinkSync('/a/l')));`,
  ),
  returns(
    'a link to itself is an error',
    { stat: (path: string) => (path === '/' ? directory : { type: 'symlink', size: 1 }), readlink: () => 'l' },
    'ELOOP',
    `say(tried(() => fs.readFileSync('/a/l')));`,
  ),
  returns(
    'a link with a NUL or of a megabyte is an error',
    {
      stat: (path: string) => (path === '/' ? directory : { type: 'symlink', size: 1 }),
      readlink: (path: string) => (path === '/n' ? 'a\0b' : 'x'.repeat(1 << 20)),
    },
    'EIO EIO',
    `say(tried(() => fs.readFileSync('/a/n')), tried(() => fs.readFileSync('/a/l')));`,
  ),
  returns(
    'a root that is a file or a link is contained',
    { stat: () => ({ type: 'symlink', size: 1 }), readlink: () => '/etc' },
    'EISDIR true',
    `say(tried(() => fs.readFileSync('/a/passwd', 'utf8').length > 0), tried(() => fs.statSync('/a').isDirectory()));`,
  ),
  returns(
    'a method that never replies ends at its timeout',
    { stat: () => new Promise(() => {}), readDir: () => new Promise(() => {}) },
    'ETIMEDOUT',
    `say(distinct([() => fs.statSync('/a/f'), () => fs.readdirSync('/a')].map(tried)));`,
  ),
];

/**
 * A case in which a program uses a file system with hostile names. Returns what the methods got.
 */
const receives = (name: string, program: string, expected: string): EscapeCase => ({
  name: `file systems: ${name}`,
  attack: async (_runtime, _folders, place) => {
    const paths = new Set<string>();
    const fileSystem = new Proxy(createMemoryFileSystem(), {
      get: (target, method: keyof FileSystem) => {
        const original = target[method] as ((...args: unknown[]) => unknown) | undefined;
        if (typeof original !== 'function') return original;
        return (...args: unknown[]) => {
          const from = method === 'symlink' ? 1 : 0; // the first argument of `symlink` is the target
          for (const value of args.slice(from, method === 'rename' ? 2 : from + 1)) paths.add(String(value));
          return original.apply(target, args);
        };
      },
    });
    const runtime = await place.create({ mounts: [{ guestPath: '/a', fileSystem }] });
    const output = await code(runtime, program);
    const wrong = [...paths].filter((path) => !path.startsWith('/') || /(^|\/)\.{1,2}(\/|$)|\0|\/\//.test(path));
    return `${output} | ${wrong.map((path) => JSON.stringify(path)).join() || 'none'}`;
  },
  expected,
});

const names: EscapeCase[] = [
  receives(
    'no climbing or unclean path reaches a method',
    `
fs.mkdirSync('/a/d');
for (const path of ['/a/../../../etc/passwd', '/a/./x', '/a//x', '/a/d/../y', '/a/..', '/a/d/../../a/z', '/a/x\\0y', '/a/',
'/a/d/'])
  for (const call of [() => fs.writeFileSync(path, 'x'), () => fs.statSync(path), () => fs.readdirSync(path),
() => fs.renameSync(path, '/a/../a/q')]) tried(call);
process.chdir('/a'); tried(() => fs.writeFileSync('../../x', 'x')); tried(() => fs.readFileSync('./d/../../etc/passwd'));
say('tried');`,
    'tried | none',
  ),
  receives(
    'a link of the guest does not make a climbing path',
    `
tried(() => fs.symlinkSync('../../../etc', '/a/l')); tried(() => fs.readFileSync('/a/l/passwd'));
tried(() => fs.writeFileSync('/a/l/x', 'x'));
fs.symlinkSync('/a/../a/./d', '/tmp/l'); tried(() => fs.mkdirSync('/tmp/l')); tried(() => fs.writeFileSync('/tmp/l/f', 'x'));
say('tried');`,
    'tried | none',
  ),
  receives(
    'names of prototypes are plain names',
    `
for (const name of ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf']) fs.writeFileSync('/a/' + name, name);
fs.mkdirSync('/a/prototype'); fs.writeFileSync('/a/prototype/__proto__', 'x');
say(fs.readdirSync('/a').sort().join(), fs.readFileSync('/a/__proto__', 'utf8'),
tried(() => fs.readFileSync('/a/__defineGetter__')));`,
    '__proto__,constructor,hasOwnProperty,prototype,toString,valueOf __proto__ ENOENT | none',
  ),
  receives(
    'names in other encodings are passed as text or refused',
    `
const results = [[0xff], [0xc0, 0xae], [0xed, 0xa0, 0x80], [0x0a], [0x7f]].map((bytes) =>
  tried(() => fs.writeFileSync(Buffer.concat([Buffer.from('/a/'), Buffer.from(bytes)]), 'x')));
say(results.join());`,
    'EILSEQ,EILSEQ,EILSEQ,done,done | none',
  ),
];

const reentrant: EscapeCase[] = [
  {
    name: 'file systems: names, directories and links of a file system in memory are bounded',
    attack: async (_runtime, _folders, place) => {
      const fileSystem = createMemoryFileSystem({ maxBytes: 64 << 10 });
      const runtime = await place.create({ mounts: [{ guestPath: '/a', fileSystem }] });
      return code(
        runtime,
        `
const fill = (make) => { let n = 0; for (; n < 1000; n++) if (tried(() => make('/a/' + String(n).padStart(8,
'0'))) === 'ENOSPC') break; return n; };
const clear = () => { for (const name of fs.readdirSync('/a')) fs.rmSync('/a/' + name, { recursive: true }); };
say(fill((path) => fs.mkdirSync(path))); clear();
say(fill((path) => fs.closeSync(fs.openSync(path, 'w')))); clear();
say(fill((path) => fs.symlinkSync('x'.repeat(2000), path))); clear();
say(fill((path) => { fs.writeFileSync(path, Buffer.alloc(32 << 10)); fs.truncateSync(path, 9 << 10); })); clear();
say(tried(() => fs.writeFileSync('/a/all', Buffer.alloc(64 << 10))), fs.readdirSync('/a').join());`,
      );
    },
    expected: '126\n126\n26\n2\ndone all',
  },
  {
    name: 'file systems: a method that runs a program of its runtime does not deadlock',
    attack: async (_runtime, _folders, place) => {
      let runtime: NodeRuntime | undefined;
      const inner: string[] = [];
      const fileSystem = answering({
        read: async (_path: string, offset: number) => {
          const result = await runtime?.exec(`console.log('inner')`);
          inner.push(result?.stdout.trim() ?? '');
          return Buffer.from('abc').subarray(offset);
        },
      });
      runtime = await place.create({ mounts: [{ guestPath: '/a', fileSystem }] });
      return `${await code(runtime, `say(fs.readFileSync('/a/f', 'utf8'));`)} ${[...new Set(inner)].join()}`;
    },
    expected: 'abc inner',
  },
  {
    name: 'file systems: a method that uses its own mount ends at the timeout',
    attack: async (_runtime, _folders, place) => {
      let runtime: NodeRuntime | undefined;
      const fileSystem = answering({
        stat: async (path: string) => {
          if (path !== '/f') return path === '/' ? directory : file;
          const result = await runtime?.exec(
            `import fs from 'node:fs'; try { fs.statSync('/a/f'); console.log('found');
} catch (error) { console.log(error.code); }`,
          );
          return { type: 'file', size: result?.stdout.length ?? 0 };
        },
      });
      runtime = await place.create({ mounts: [{ guestPath: '/a', fileSystem, timeout: 300 }], limits: { processes: 8 } });
      return code(runtime, `say(tried(() => fs.statSync('/a/f').size));`);
    },
    expected: /^(6|ETIMEDOUT)$/,
  },
  {
    name: 'file systems: a method that disposes the runtime ends the program',
    attack: async (_runtime, _folders, place) => {
      let runtime: NodeRuntime | undefined;
      const fileSystem = answering({
        read: async () => {
          await runtime?.dispose();
          return Buffer.from('abc');
        },
      });
      runtime = await place.create({ mounts: [{ guestPath: '/a', fileSystem }] });
      const { exitCode, error } = await runtime.exec(`import fs from 'node:fs'; fs.readFileSync('/a/f'); console.log('after');`);
      return `${exitCode} ${error?.code}`;
    },
    expected: '137 ERR_RUNTIME_DISPOSED',
  },
  {
    name: 'file systems: a method that denies its own mount ends the call and later calls',
    attack: async (_runtime, _folders, place) => {
      let runtime: NodeRuntime | undefined;
      const fileSystem = answering({
        stat: async (path: string) => {
          if (path === '/f')
            await runtime?.setPermissions({ fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/a'] }] } });
          return path === '/' ? directory : file;
        },
      });
      runtime = await place.create({ mounts: [{ guestPath: '/a', fileSystem }] });
      return code(
        runtime,
        `tried(() => fs.statSync('/a/f')); say(tried(() => fs.readFileSync('/a/g')), tried(() => fs.readdirSync('/a')));`,
      );
    },
    expected: 'EACCES EACCES',
  },
  {
    name: 'file systems: a rollback during a method leaves the runtime usable',
    attack: async (_runtime, _folders, place) => {
      const calls: (() => void)[] = [];
      const fileSystem = answering({ read: () => new Promise((resolve) => calls.push(() => resolve(Buffer.from('abc')))) });
      const runtime = await place.create({ mounts: [{ guestPath: '/a', fileSystem }] });
      const before = await runtime.snapshot();
      const reading = runtime.exec(`import fs from 'node:fs'; fs.readFileSync('/a/f'); console.log('after');`);
      while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
      await runtime.rollback(before);
      for (const call of calls) call();
      const { error } = await reading;
      return `${error?.code} ${await code(runtime, `say(fs.statSync('/a/f').size);`)}`;
    },
    expected: 'ERR_ROLLED_BACK 3',
  },
  {
    name: 'file systems: floods of calls of eight programs get their own answers',
    attack: async (_runtime, _folders, place) => {
      const fileSystem = answering({
        stat: async (path: string) => {
          await null;
          return path === '/' ? directory : { type: 'file', size: Number(path.slice(1)) };
        },
      });
      const runtime = await place.create({ mounts: [{ guestPath: '/a', fileSystem }] });
      const programs = Array.from({ length: 8 }, (_, at) =>
        code(
          runtime,
          `let wrong = 0; for (let n = 0; n < 100; n++) if (fs.statSync('/a/' + (n * 8 + ${at})).size !== n * 8 + ${at}) wrong++;
say(wrong);`,
        ),
      );
      return [...new Set(await Promise.all(programs))].join();
    },
    expected: '0',
  },
  {
    name: 'file systems: one runtime does not see descriptors of another in a shared file system',
    attack: async (_runtime, _folders, place) => {
      const fileSystem = createMemoryFileSystem({ maxBytes: 1 << 20 });
      const [a, b] = [
        await place.create({ mounts: [{ guestPath: '/a', fileSystem }] }),
        await place.create({ mounts: [{ guestPath: '/a', fileSystem, readOnly: true }] }),
      ];
      const wrote = await code(
        a,
        `fs.writeFileSync('/a/f', 'from a'); say(tried(() => fs.writeFileSync('/a/large', Buffer.alloc(2 << 20))));`,
      );
      const read = await code(
        b,
        `say(fs.readFileSync('/a/f', 'utf8'), tried(() => fs.writeFileSync('/a/f', 'x')), tried(() => fs.unlinkSync('/a/f')),
tried(() => fs.chmodSync('/a/f', 0)));`,
      );
      return `${wrote} ${read}`;
    },
    expected: 'ENOSPC from a EROFS EROFS EROFS',
  },
];

export const fileSystems: Theme = { name: 'file systems', cases: [...answers, ...names, ...reentrant] };
