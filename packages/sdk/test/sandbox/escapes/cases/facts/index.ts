// Looks for facts about the machine, and for contents of memory that earlier programs used. The
// harness searches every output for forbidden text: names, addresses, folders, secrets.

import { cpus, totalmem, uptime } from 'node:os';
import { NodeRuntime } from '../../../../../src/index.js';
import type { EscapeCase, Theme } from '../../harness/case.js';

export const facts: Theme = {
  name: 'facts',
  cases: [
    {
      name: 'node:os has no fact of the host machine',
      program: `
const os = require('os');
console.log(JSON.stringify(
  Object.fromEntries(Object.entries(os)
    .filter(([, value]) => typeof value === 'function' && value.length === 0)
    .map(([name, value]) => [name, tried(() => JSON.stringify(value()))])),
  null,
  1
));
say(
  os.hostname(), os.homedir(), os.userInfo().username, os.cpus().length, os.totalmem() === ${totalmem()},
  os.cpus()[0]?.model === ${JSON.stringify(cpus()[0]?.model)}, Object.keys(os.networkInterfaces()).join()
);`,
      expected: /coldframe \/home\/user user 1 false false lo$/,
    },
    {
      name: 'process has no fact of the host machine',
      program: `
console.log(
  require('util').inspect(process, { depth: 4, maxStringLength: 2_000 }),
  process.report?.getReport ? tried(() => JSON.stringify(process.report.getReport())) : '',
  JSON.stringify(process.config),
  JSON.stringify(process.versions),
  tried(() => JSON.stringify(process.resourceUsage())),
  process.execPath,
  process.argv.join(),
  process.title
);
say(process.ppid, Object.keys(process.env).join());`,
      expected: /\n1 HOME,LOGNAME,PATH,SHELL,TMPDIR,USER$/,
    },
    {
      name: 'a program and its child have only the environment of a login and of the options',
      options: { env: { OWN: 'x' } },
      program: `
const { spawnSync } = require('child_process');
say(
  Object.keys(process.env).join(),
  JSON.parse(spawnSync('node', ['-p', 'JSON.stringify(Object.keys(process.env))']).stdout).join(),
  String(spawnSync('sh', ['-c', 'env']).stdout).includes('COLDFRAME')
);`,
      expected: /^(HOME,LOGNAME,PATH,SHELL,TMPDIR,USER,OWN) \1 false$/,
    },
    {
      name: "the uptime is not the machine's",
      program: `
const host = ${uptime()};
const close = (value) => Math.abs(value - host) < 600;
say(
  close(require('os').uptime()),
  close(Number(fs.readFileSync('/proc/uptime', 'utf8').split(' ')[0])),
  close(process.uptime()),
  close(performance.now() / 1_000)
);`,
      expected: 'false false false false',
    },
    {
      name: 'errors and stacks contain no path of the build or of the host machine',
      program: `
const errors = [
  () => fs.readFileSync('/none'), () => require('/none'), () => new URL('x'), () => JSON.parse('{'), () => null.x,
  () => process.chdir('/none'), () => Buffer.alloc(-1), () => require('zlib').inflateSync('x'),
  () => require('crypto').createHash('x'), () => structuredClone(() => {}), () => new (require('vm').Script)('{')
].map((work) => {
  try { work(); return ''; } catch (error) { return require('util').inspect(error, { depth: 9, showHidden: true }); }
});
console.log(errors.join('\\n'));
say(errors.every((text) => text.length > 10), /packages\\/|coldframe:|\\.c:\\d|\\.rs:\\d/.test(errors.join()));`,
      expected: /true false$/,
    },
    {
      name: 'fresh memory contains nothing of earlier programs',
      attack: async (runtime) => {
        const secret = `left-over-${Math.random()}`;
        const fill = `
const all = [];
for (let i = 0; i < 300; i++) all.push(Buffer.alloc(1 << 16, '${secret}'));
globalThis.kept = '${secret}'.repeat(1_000);`;
        for (let i = 0; i < 6; i++) await runtime.exec(fill);
        const search = `
const needle = Buffer.from(process.argv[1].split('').reverse().join(''));
let found = 0;
const zeros = Buffer.alloc(1 << 16);
for (let i = 0; i < 900; i++) {
  const part = Buffer.allocUnsafeSlow(1 << 16);
  if (part.indexOf(needle) >= 0) found++;
  if (!part.equals(zeros)) found++;
  globalThis.all = [...(globalThis.all ?? []), part];
}
console.log(found);`;
        return (await runtime.exec(search, { args: [[...secret].reverse().join('')] })).stdout.trim();
      },
      expected: '0',
    },
    {
      name: 'two starts share no random numbers, identifiers or times of origin',
      attack: async (runtime) => {
        const code = `
console.log(Math.random(), crypto.randomUUID(), crypto.getRandomValues(new Uint32Array(2)).join(), performance.timeOrigin);`;
        const lines = await Promise.all(Array.from({ length: 8 }, async () => (await runtime.exec(code)).stdout.trim()));
        return String([0, 1, 2].every((at) => new Set(lines.map((text) => text.split(' ')[at])).size === lines.length));
      },
      expected: 'true',
    },
    {
      name: 'files of another runtime under the same names are not visible',
      attack: async (runtime) => {
        const code = `
import fs from 'node:fs';
console.log(
  fs.existsSync('/workspace/neighbour-secret.txt'),
  fs.readdirSync('/workspace').length,
  fs.readdirSync('/tmp').length,
  fs.readdirSync('/proc').filter((name) => /^\\d/.test(name)).length
);`;
        return (await runtime.exec(code)).stdout.trim();
      },
      expected: 'false 0 0 1',
    },
    {
      name: 'a runtime starts without files of disposed runtimes',
      attack: async (runtime) => {
        const seen = [];
        for (let i = 0; i < 3; i++)
          seen.push(
            (
              await runtime.exec(
                `import fs from 'node:fs'; console.log(fs.existsSync('/tmp/mark')); fs.writeFileSync('/tmp/mark', 'x')`,
              )
            ).stdout.trim(),
          );
        return `${seen.join()} ${NodeRuntime.name}`;
      },
      expected: 'false,true,true NodeRuntime',
    },
  ] satisfies EscapeCase[],
};
