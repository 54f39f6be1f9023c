// Modifies reachable prototypes in a program, then calls each part of Node's library.
//
// A modified library may break its own program. The library must not break the engine, hang, or do
// anything that the kernel forbids.

import type { EscapeCase, Theme } from '../../harness/case.js';
import { BATTERY } from './battery.js';
import { POISONS } from './poisons.js';

/**
 * Returns a program that prints its results without the library, which the poison may have broken.
 */
const program = (poison: string): string => `
import fs from 'node:fs';
const { writeSync, readFileSync } = fs;
const { TextEncoder } = globalThis;
${BATTERY}
let shadow = 'kept';
const bytes = (text) => new TextEncoder().encode(text);
const done = bytes('survived\\n');
const stolen = bytes('stolen');
const exit = process.reallyExit;
{ ${poison} }
try { await battery(); } catch {}
try { readFileSync('/etc/shadow'); shadow = 'read'; } catch {}
if (shadow !== 'kept') writeSync(1, stolen, 0, 6);
writeSync(1, done, 0, 9);
exit.call(process, 0);`;

/** Cases in which poison in a parent or in an evaluation does not reach other programs. */
const elsewhere: EscapeCase[] = [
  {
    name: 'a poisoned parent does not poison its child',
    program: `
Object.prototype.polluted = 1; Array.prototype.own = 1; globalThis.secret = 1; process.env.X = '1';
say(require('child_process').spawnSync(
  'node',
  ['-p', '[String({}.polluted), String([].own), typeof secret, process.env.X].join()']
).stdout.toString().trim());`,
    expected: 'undefined,undefined,undefined,1',
  },
  {
    name: 'a poisoned program does not poison the next program in its slot',
    attack: async (runtime) => {
      const poison = `
Object.prototype.polluted = 1;
Array.prototype.push = null;
globalThis.secret = 1;
Error.prepareStackTrace = () => 'x';
process.title = 'poisoned';`;
      await runtime.exec(poison);
      const next = 'console.log({}.polluted, typeof [].push, typeof secret, new Error("x").stack === "x", process.title)';
      return (await runtime.exec(next)).stdout.trim();
    },
    expected: 'undefined function undefined false node',
  },
  {
    name: 'NODE_OPTIONS loads only files of the guest',
    program: `
const { spawnSync } = require('child_process');
const results = [
  '--require=/etc/shadow', '--import=file:///etc/shadow', '--require=../../../../etc/shadow',
  '--experimental-loader=/proc/self/mem', '--icu-data-dir=/etc', '--openssl-config=/etc/shadow'
].map((option) => spawnSync('node', ['-p', '1'], { env: { NODE_OPTIONS: option } }))
  .map(({ stdout, stderr }) => String(stdout).trim() + /root:/.test(String(stderr)));
say(distinct(results));`,
    expected: /^(1false )?(9?false|false)( 1false)?$|^1false false$|^false$/,
  },
];

export const prototypes: Theme = {
  name: 'prototypes',
  cases: [
    ...Object.entries(POISONS).map(
      ([name, poison]): EscapeCase => ({
        name: `the engine survives ${name}`,
        program: program(poison),
        bare: true,
        execOptions: { timeout: 3_000 },
        expected: { stdout: /^(survived)?$/, error: /^(none|ERR_TIMEOUT)$/ },
      }),
    ),
    ...elsewhere,
  ],
};
