// Passes hostile environments, arguments, names of programs and code, from the app and between
// programs.

import type { NodeRuntime } from '../../../../../src/index.js';
import type { EscapeCase, Theme } from '../../harness/case.js';

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (value) => (value as { exitCode?: number }).exitCode?.toString() ?? 'done',
    (error) => String(error.code ?? error),
  );

/** A case in which the app passes hostile values to calls of a runtime. */
const calls = (name: string, make: (runtime: NodeRuntime) => Promise<unknown>[], expected: string | RegExp): EscapeCase => ({
  name: `environment: ${name}`,
  attack: async (runtime) => (await Promise.all(make(runtime).map(codeOf))).join(),
  expected,
});

const guest = (name: string, program: string, expected: string | RegExp): EscapeCase => ({
  name: `environment: ${name}`,
  program: `const { spawnSync } = require('child_process');\n${program}`,
  expected,
});

export const environment: Theme = {
  name: 'environment',
  cases: [
    calls(
      'wrong names and values of variables are refused',
      (runtime) =>
        [
          { 'A=B': 'x' },
          { '': 'x' },
          { 'A\0B': 'x' },
          { A: 'x\0y' },
          { A: 1 as never },
          JSON.parse('{"__proto__":"x"}'),
          { ['X'.repeat(5_000_000)]: 'x' },
        ].map((env) => runtime.exec('', { env })),
      'ERR_INVALID_OPTION,ERR_INVALID_OPTION,ERR_INVALID_OPTION,ERR_INVALID_OPTION,ERR_INVALID_OPTION,0,E2BIG',
    ),
    calls(
      'wrong arguments are refused',
      (runtime) =>
        [['a\0b'], [1 as never], ['x'.repeat(50_000_000)], Array(2_000_000).fill('x')].map((args) => runtime.exec('', { args })),
      /^ERR_INVALID_OPTION,ERR_INVALID_OPTION,(ERR_FRAME_TOO_LARGE|E2BIG),(ERR_INVALID_REQUEST|E2BIG)$/,
    ),
    {
      name: 'environment: arguments of the app are no options of node',
      attack: async (runtime) => {
        const args = ['--eval', 'process.exit(7)', '--require=/etc/passwd', '-p', '1', '--', '--inspect'];
        const { stdout, exitCode } = await runtime.exec(`console.log(process.argv.slice(1).join('|'))`, { args });
        return `${exitCode} ${stdout.trim()}`;
      },
      expected: '0 --eval|process.exit(7)|--require=/etc/passwd|-p|1|--|--inspect',
    },
    calls(
      'wrong names of commands and files are refused',
      (runtime) => [
        ...['', 'a\0b', '../../bin/sh', '/proc/self/exe', '-c', 'sh -c id', '/etc/passwd', '.', '/'].map((name) =>
          runtime.execCommand(name, ['-c', 'exit 3']),
        ),
        ...['', '/none', '/etc', '--eval', '/dev/zero\0'].map((path) => runtime.execFile(path)),
      ],
      'ENOENT,ENOENT,3,ENOENT,ENOENT,ENOENT,EACCES,EACCES,EACCES,1,1,1,1,1',
    ),
    calls(
      'wrong working directories are refused',
      (runtime) =>
        ['relative', '/none', '/etc/passwd', '/proc/self/fd/0', '/a\0b', '/..', '/proc/1/root'].map((cwd) =>
          runtime.exec('', { cwd }),
        ),
      'ERR_INVALID_OPTION,ENOENT,ENOTDIR,ENOENT,ERR_INVALID_OPTION,0,ENOENT',
    ),
    {
      name: 'environment: code that looks like an option, a script or a module of the bootstrap is code',
      attack: async (runtime) => {
        const codes = [
          '--version',
          '#!/bin/sh\nexit 9',
          '\0',
          '\ufeff',
          '}); process.exit(5); ({',
          '`',
          '*/ process.exit(6) /*',
          "import '../../../../etc/passwd'",
          'import.meta.resolve("x")',
        ];
        return (await Promise.all(codes.map((code) => codeOf(runtime.exec(code, { timeout: 5_000 }))))).join();
      },
      expected: '1,1,1,0,1,1,1,1,1',
    },
    calls(
      'files of a program cannot leave their folder',
      (runtime) =>
        ['../evil.js', '/etc/evil.js', 'a/../../evil.js', 'a\0b.js', '', '.', 'a//b.js', './a.js'].map((name) =>
          runtime.execFiles({ 'main.js': '', [name]: 'x' }, { entry: 'main.js' }),
        ),
      Array(8).fill('ERR_INVALID_OPTION').join(),
    ),
    guest(
      'environments of children are data',
      `
const code = 'JSON.stringify(Object.entries(process.env).length) + {}.polluted';
const see = (env) => {
  const { error, stdout } = spawnSync('node', ['-p', code], { env });
  return error ? error.code : String(stdout).trim();
};
say(
  see(JSON.parse('{"__proto__":{"polluted":1},"A":"1"}')), see({ 'A=B': 'x' }), tried(() => see({ 'A\\0B': 'x' })),
  see({ A: '\\ud800' }), see(Object.create({ INHERITED: '1' }))
);`,
      '2undefined 1undefined ERR_INVALID_ARG_VALUE 1undefined 1undefined',
    ),
    guest(
      'duplicate and giant variables are bounded',
      `
const env = Object.fromEntries(Array.from({ length: 50000 }, (_, n) => ['A' + n, 'x'.repeat(200)]));
const { stdout } = spawnSync('env', Array(3).fill('A=1'));
say(spawnSync('node', ['-p', '1'], { env }).error?.code, stdout.toString().split('A=1').length - 1);`,
      'E2BIG 1',
    ),
    guest(
      'arguments with NULs, giant lists and long texts are bounded',
      `
say(
  tried(() => spawnSync('echo', ['a\\0b'])), spawnSync('echo', ['x'.repeat(8 << 20)]).error?.code,
  spawnSync('echo', Array(200000).fill('xxxxxxxxxx')).error?.code
);`,
      'ERR_INVALID_ARG_VALUE E2BIG E2BIG',
    ),
    guest(
      'options of node in the environment open nothing outside',
      `
const run = (NODE_OPTIONS) => {
  const { status, stdout } = spawnSync('node', ['-p', '"ran"'], { env: { NODE_OPTIONS } });
  return status === 0 ? String(stdout).trim() : 'failed';
};
say([
  '--inspect=0.0.0.0:9229', '--require /etc/shadow', '--import data:text/javascript,process.exit(8)', '--title=x --title=y',
  '"unclosed', '--diagnostic-dir=/etc --report-on-signal', '--v8-pool-size=100000', '--max-old-space-size=99999999'
].map(run).join());`,
      'failed,failed,failed,ran,failed,failed,ran,ran',
    ),
    guest(
      'process.env is no object with behaviour',
      `
process.env.toString = 'x'; process.env.__proto__ = 'y'; process.env.A = { toString() { return 'z'; } };
say(
  tried(() => { process.env.S = Symbol(); }), process.env.A, Object.keys(process.env).includes('__proto__'),
  tried(() => Object.defineProperty(process.env, 'G', { get: () => 1 })), tried(() => Object.freeze(process.env)),
  tried(() => { process.env['a\\0b'] = '1'; }), delete process.env.A, process.env.A
);`,
      'TypeError z true ERR_INVALID_OBJECT_DEFINE_PROPERTY ERR_INVALID_OBJECT_DEFINE_PROPERTY done true',
    ),
  ],
};
