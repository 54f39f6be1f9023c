// Reaches denied files, programs and variables through other programs: the shell, interpreters,
// loaders, forged commands.

import type { EscapeCase } from '../../harness/case.js';
import { denied } from './denied.js';

const RUN = `
const { spawnSync } = require('child_process');
const run = (command, ...args) => {
  const { error, stdout } = spawnSync(command, args);
  return error ? error.code : /top-secret|ran/.test(String(stdout)) ? 'LEAK ' + stdout : 'none';
};`;

/** Shell lines that would print the denied file. */
const LINES: Record<string, string[]> = {
  'commands that read': [
    'cat',
    'head',
    'tail',
    'sort',
    'od -c',
    'nl',
    'rev',
    'tac',
    'base64',
    'xxd -p',
    'strings',
    'fold',
    'grep -r .',
  ].map((command) => `${command} /secret/key`),
  redirections: [
    'cat < /secret/key',
    'read x < /secret/key; echo $x',
    'echo $(< /secret/key)',
    'exec 5< /secret/key; cat <&5',
    'cat /dev/fd/7 7< /secret/key',
  ],
  'programs of commands': [
    'awk "{ print }" /secret/key',
    `awk 'BEGIN { getline x < "/secret/key"; print x }'`,
    'sed -n p /secret/key',
    `echo x | sed "r /secret/key"`,
    'jq -R . /secret/key',
    'find /secret -type f -exec cat {} +',
    'echo /secret/key | xargs cat',
    'tar -cO /secret | strings',
    'diff /secret/key /open/file',
    'source /secret/main.js',
    'paste /secret/key; join /secret/key /secret/key; comm /secret/key /open/file',
  ],
  'links and directories': [
    'ln -s /secret l; cat l/key',
    'ln /secret/key h; cat h',
    'cd /secret && cat key',
    'cp -r /secret c; cat c/key',
    'mv /secret m; cat m/key',
    'pushd /secret; cat key',
    'cat /proc/self/root/secret/key',
    'echo /secret/*; ls -R /secret',
  ],
};

const shell = Object.entries(LINES).map(([name, lines]) =>
  denied(
    `the shell does not read a denied file: ${name}`,
    `${RUN}
say(distinct(${JSON.stringify(lines)}.map((line) => run('sh', '-c', line))));`,
    'none',
  ),
);

const ENV = { TOKEN: 'top-secret', OPEN: 'open' };
const HIDDEN = { env: { default: 'allow', rules: [{ mode: 'deny', patterns: ['TOKEN'] }] } } as const;

const variable = (name: string, program: string, expected: string): EscapeCase => ({
  name: `permissions: ${name}`,
  options: { env: ENV, permissions: HIDDEN },
  program,
  expected,
});

const NO_SHELL = { childProcess: { default: 'allow', rules: [{ mode: 'deny', patterns: ['sh'] }] } } as const;

const program = (name: string, code: string, expected: string): EscapeCase => ({
  name: `permissions: ${name}`,
  options: { permissions: NO_SHELL },
  program: `const { exec, execFile, execSync, fork, spawn, spawnSync } = require('child_process');\n${code}`,
  expected,
});

export const programs: EscapeCase[] = [
  ...shell,
  denied(
    'no loader loads a denied file',
    `
const { createRequire } = require('module');
say(distinct([
  tried(() => require('/secret/main.js')), tried(() => createRequire('/secret/x.js')('./main.js')),
await later(() => import('/secret/main.js')),
  await later(() => import('file:///open/../secret/main.js')), tried(() => process.dlopen({}, '/secret/key'))
]));`,
    'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM ERR_MODULE_NOT_FOUND MODULE_NOT_FOUND',
  ),
  denied(
    'no option of node loads a denied file',
    `${RUN}
say(distinct([
  run('node', '/secret/main.js'), run('node', '--require', '/secret/main.js', '-p', '1'),
  run('node', '--import', '/secret/main.js', '-p', '1'), run('env', 'NODE_OPTIONS=--require=/secret/main.js', 'node', '-p', '1'),
  run('node', '--env-file=/secret/key', '-p', 'process.env')
]));`,
    'none',
  ),
  denied(
    'a denied file is not executed, also as an interpreter',
    `${RUN}
fs.writeFileSync('script', '#!/secret/main.js\\n', { mode: 0o755 });
fs.symlinkSync('/secret/main.js', 'l');
say(distinct([run('/secret/main.js'), run('./script'), run('./l'), run('/proc/self/root/secret/main.js')]));`,
    'EACCES',
  ),
  variable(
    'a denied variable is absent in every form',
    `
const { execFileSync } = require('child_process');
const texts = [
  JSON.stringify(process.env), String(Object.getOwnPropertyDescriptor(process.env, 'TOKEN')),
fs.readFileSync('/proc/self/environ', 'latin1'),
  String(execFileSync('env')), String(execFileSync('sh', ['-c', 'echo "$TOKEN"; set; export -p'])),
  String(execFileSync('node', ['-p', 'process.env'])), require('util').inspect(process, { depth: 3 })
];
say(texts.map((text) => text.includes('top-secret')).join(), 'TOKEN' in process.env);`,
    'false,false,false,false,false,false,false false',
  ),
  variable(
    'a denied variable is not read through a file of /proc of a child or parent',
    `
const { spawn } = require('child_process');
const child = spawn('node', ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
await event(child, 'spawn');
say(['self', process.pid, child.pid].map((pid) => tried(() => fs.readFileSync('/proc/' + pid + '/environ',
'latin1')).includes('TOKEN')).join());
child.kill();`,
    'false,false,false',
  ),
  variable(
    'a child does not receive a denied variable',
    `
const { spawnSync } = require('child_process');
const see = (env) => { const { error, stdout } = spawnSync('node', ['-p', 'String(process.env.TOKEN)'], { env });
return error ? error.code : String(stdout).trim(); };
say(see({ TOKEN: 'own' }), see({ ...process.env, TOKEN: '' }), see({ token: 'own' }));`,
    'undefined undefined undefined',
  ),
  program(
    'a denied program does not start by any name',
    `
fs.copyFileSync('/bin/sh', 'copy'); fs.chmodSync('copy', 0o755); fs.symlinkSync('/bin/sh', 'link');
fs.writeFileSync('script', '#!/bin/sh\\necho ran', { mode: 0o755 });
fs.writeFileSync('env-script', '#!/usr/bin/env sh\\necho ran', { mode: 0o755 });
const names = ['sh', '/bin/sh', '/usr/bin/../../bin/sh', './copy', './link', './script', '/proc/self/root/bin/sh'];
say(distinct(names.map((name) => spawnSync(name, ['-c', 'echo ran']).error?.code)), spawnSync('./env-script').status !== 0);`,
    'EACCES true',
  ),
  program(
    'a denied program does not start through another program',
    `
const ran = (command, ...args) => String(spawnSync(command, args, { input: 'echo ran' }).stdout).includes('ran');
say([
  ran('env', 'sh', '-c', 'echo ran'), ran('xargs', 'sh', '-c'), ran('find', '/etc/passwd', '-exec', 'sh', '-c', 'echo ran', ';'),
  ran('timeout', '1', 'sh', '-c', 'echo ran'), ran('nohup', 'sh', '-c', 'echo ran'), ran('node', '-e',
"require('child_process').execSync('echo ran', { stdio: 'inherit' })")
].join());`,
    'false,false,false,false,false,false',
  ),
  program(
    'no call of child_process starts a denied program',
    `
say(distinct([
  tried(() => execSync('echo ran')), await event(exec('echo ran'), 'error', 'spawn'), await event(execFile('sh', ['-c', ':']),
'error', 'spawn'),
  await event(spawn('echo ran', { shell: true }), 'error', 'spawn'), await event(spawn('x', { shell: '/bin/sh' }), 'error',
'spawn'),
  await event(fork('x', { execPath: 'sh' }), 'error', 'spawn')
]));`,
    'EACCES',
  ),
  {
    name: 'permissions: childProcess deny leaves no way to start a program',
    options: { permissions: { childProcess: 'deny' } },
    execOptions: { execArgv: ['--no-warnings', '--expose-internals'] },
    program: `
const { spawn, spawnSync, fork } = require('child_process');
const { internalBinding } = require('internal/test/binding');
say(distinct([
  spawnSync('node', ['-p', '1']).error?.code, await event(spawn('node', ['-p', '1']), 'error', 'spawn'),
  await event(fork('x'), 'error', 'spawn'),
  String(internalBinding('spawn_sync').spawn({ file: '/usr/local/bin/node', args: ['node'], envPairs: [], stdio: [] }).error)
]));
process.exit();`,
    expected: '-13 EACCES',
  },
];
