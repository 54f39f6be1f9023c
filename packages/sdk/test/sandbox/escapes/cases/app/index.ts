// Attacks calls of the app through files and values that a hostile program has prepared: links,
// deep folders, devices, returned values.

import type { NodeRuntime } from '../../../../../src/index.js';
import type { EscapeCase, Theme } from '../../harness/case.js';

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error) => String(error.code ?? error),
  );

/** Runs a program that prepares files, then makes calls of the app. */
const prepared = (
  name: string,
  program: string,
  calls: (runtime: NodeRuntime) => Promise<unknown>[],
  expected: RegExp,
): EscapeCase => ({
  name,
  attack: async (runtime) => {
    const result = await runtime.exec(`import fs from 'node:fs';\n${program}`, { timeout: 10_000 });
    if (result.exitCode !== 0) return result.stderr;
    return [...new Set(await Promise.all(calls(runtime).map(codeOf)))].sort().join(' ');
  },
  expected,
});

export const app: Theme = {
  name: 'app',
  cases: [
    prepared(
      'links to devices and processes are contained',
      `
for (const [name, target] of [
  ['zero', '/dev/zero'], ['random', '/dev/urandom'], ['full', '/dev/full'], ['tty', '/dev/tty'],
  ['environ', '/proc/self/environ'], ['mem', '/proc/1/mem'], ['fd', '/proc/self/fd/0'], ['loop', 'loop']
]) fs.symlinkSync(target, name);`,
      (runtime) =>
        ['zero', 'random', 'full', 'tty', 'environ', 'mem', 'fd', 'loop'].flatMap((name) => [
          runtime.readFile(`/workspace/${name}`),
          runtime.readDir(`/workspace/${name}`),
        ]),
      /^E[A-Z]+( E[A-Z]+)* done$/,
    ),
    prepared(
      'removing a folder that holds links removes the links',
      `
fs.mkdirSync('trap/deep', { recursive: true });
fs.symlinkSync('/etc', 'trap/etc');
fs.symlinkSync('..', 'trap/deep/up');
fs.symlinkSync('/', 'root');
fs.writeFileSync('kept', '');`,
      (runtime) => [
        runtime
          .remove('/workspace/trap', { recursive: true })
          .then(() => runtime.remove('/workspace/root', { recursive: true }))
          .then(() => Promise.all([runtime.stat('/etc/passwd'), runtime.stat('/workspace/kept'), runtime.stat('/bin/sh')])),
      ],
      /^done$/,
    ),
    prepared(
      'deep folders, unusual names and thousands of files are handled',
      `
let path = '/workspace';
for (let i = 0; i < 1_500; i++) { path += '/d'; if (path.length < 4_000) fs.mkdirSync(path); }
for (let i = 0; i < 5_000; i++) fs.writeFileSync('/tmp/' + i, '');
for (const bytes of [[0xff], [0x0a], [0xc0, 0x80], [0x5c], [0x2a]])
  fs.writeFileSync(Buffer.concat([Buffer.from('/tmp/'), Buffer.from(bytes)]), '');`,
      (runtime) => [
        runtime.readDir('/tmp'),
        runtime.readDirWithTypes('/tmp'),
        runtime.remove('/workspace/d', { recursive: true }),
        runtime.remove('/tmp', { recursive: true }),
      ],
      /^(done|done EBUSY|EBUSY done|E[A-Z]+ done)$/,
    ),
    prepared(
      'a file larger than memory is handled',
      `fs.truncateSync((fs.writeFileSync('hole', ''), 'hole'), 2 ** 50); fs.chmodSync('/workspace', 0);`,
      (runtime) => [
        runtime.stat('/workspace/hole'),
        runtime.rename('/workspace/hole', '/workspace/other'),
        runtime.remove('/workspace/other'),
      ],
      /^(done|E[A-Z]+|ERR_[A-Z_]+| )+$/,
    ),
    {
      name: 'wrong paths are refused',
      attack: async (runtime) => {
        const paths = [
          '',
          'relative',
          '/a\0b',
          `/${'x'.repeat(5_000)}`,
          `/${'y/'.repeat(40_000)}`,
          '/../../../../etc/shadow',
          '//',
          '/proc/self/environ',
          '/dev/full',
        ];
        const codes = await Promise.all(
          paths.flatMap((path) => [
            codeOf(runtime.readFile(path)),
            codeOf(runtime.writeFile(path, 'x')),
            codeOf(runtime.rename(path, '/tmp/x')),
          ]),
        );
        return String(codes.every((code) => code === 'done' || /^(E[A-Z]+|ERR_INVALID_OPTION)$/.test(code)));
      },
      expected: 'true',
    },
    {
      name: 'a returned value does not poison objects of the app',
      attack: async (runtime) => {
        const own = `"then":1,"toJSON":2,"constructor":{"prototype":{"polluted":1}}`;
        const returns = (text: string) => `__return(JSON.parse('{${text}}'))`;
        const refused = (await runtime.run(returns(`"__proto__":{"polluted":1},${own}`))).error?.code;
        const { value } = await runtime.run<Record<string, unknown>>(returns(own));
        return `${refused} ${({} as { polluted?: unknown }).polluted} ${Object.getPrototypeOf(value) === Object.prototype}`;
      },
      expected: 'ERR_RESULT_REFUSED undefined true',
    },
    {
      name: 'returned values that are not JSON are refused',
      attack: async (runtime) => {
        const programs = [
          `JSON.stringify = () => '{'; __return(1)`,
          `JSON.stringify = () => 'x'.repeat(100); __return(1)`,
          `JSON.stringify = () => 1; __return({})`,
          `String.prototype.toString = () => '{'; __return('x')`,
          `__return({ toJSON() { __return(2); return 3; } })`,
          `__return(1); __return(2)`,
          `__return('\\ud800')`,
        ];
        const ends = await Promise.all(programs.map((code) => codeOf(runtime.run(code))));
        return String(ends.every((end) => end === 'done' || end.startsWith('ERR_')) || ends.join());
      },
      expected: 'true',
    },
    {
      name: 'output that imitates a message is passed as bytes',
      attack: async (runtime) => {
        const bytes = [...Array(256).keys()].map((byte) => byte);
        const { stdoutBytes, error } = await runtime.exec(
          `
import fs from 'node:fs';
fs.writeSync(1, Buffer.from(${JSON.stringify(bytes)}));
fs.writeSync(1, '{"code":"ERR_TIMEOUT"}\\n');`,
        );
        return `${stdoutBytes.length} ${error?.code}`;
      },
      expected: '279 undefined',
    },
  ],
};
