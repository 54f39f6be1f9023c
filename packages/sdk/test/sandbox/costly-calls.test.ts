// Runs guests whose single system calls would take seconds without a bound. Programs of other
// runtimes must run meanwhile, and the guests must continue afterwards.

import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { MODES, withMode } from './modes.js';

const LINKS = `
  import { execFileSync, spawnSync } from 'node:child_process';
  import { mkdirSync, statSync, symlinkSync } from 'node:fs';
  import process from 'node:process';
  const codeOf = (call) => { try { call(); return 'none'; } catch (error) { return error.code; } };
`;

const SECRET = ['/secret'];
const WILDCARDS = Array.from({ length: 400 }, (_, n) => `/**/n*${n}/**`);

/** The programs, with their output and the paths that they may not use. */
const GUESTS: [name: string, code: string, output: string, denied: string[]][] = [
  [
    'a search for a command through long links',
    `${LINKS}
    for (let n = 0; n < 5; n++) symlinkSync('./'.repeat(1990) + 'l' + (n + 1), 'l' + n);
    mkdirSync('l5');
    const { error } = spawnSync('nope', [], { env: { PATH: 'l0:'.repeat(60000) } });
    console.log(error.code);`,
    'ELOOP\n',
    SECRET,
  ],
  [
    'a path that often leaves a deep directory',
    `${LINKS}
    mkdirSync('d/'.repeat(1900), { recursive: true });
    process.chdir('d/'.repeat(1900));
    mkdirSync('d');
    for (let n = 0; n < 5; n++) symlinkSync('d/../'.repeat(800) + 'l' + (n + 1), 'l' + n);
    console.log(codeOf(() => statSync('l0')));`,
    'ELOOP\n',
    SECRET,
  ],
  [
    'env with 30,000 variables twice',
    `${LINKS}
    const names = Array.from({ length: 30000 }, (_, n) => 'A' + n + '=');
    const text = execFileSync('env', [...names, 'env', ...names, 'node', '-p', '40 + 2']);
    console.log(text.toString().trim());`,
    '42\n',
    SECRET,
  ],
  [
    'rules with wildcards for a deep directory',
    `${LINKS}
    const name = 'n'.repeat(200);
    const codes = [];
    for (let n = 0; n < 500; n++) {
      codes.push(codeOf(() => mkdirSync(name)), codeOf(() => process.chdir(name)));
    }
    console.log(codes[0], codes.at(-1), codeOf(() => statSync('/workspace/' + name)));`,
    'none EACCES none\n',
    WILDCARDS,
  ],
];

describe.each(MODES)('$name', (mode) => {
  test.each(GUESTS)('%s is bounded, and a neighbour runs meanwhile', (_, code, output, paths) =>
    withMode(mode, async (provisioning) => {
      const fs = { default: 'allow', rules: [{ mode: 'deny', paths }] } as const;
      const hostile = await provisioning.create({ permissions: { fs } });
      const neighbour = await provisioning.create();
      let isOver = false;
      const running = hostile.exec(code).finally(() => {
        isOver = true;
      });
      do {
        expect((await neighbour.exec('console.log(1)')).stdout).toBe('1\n');
        // A program that ran in the call leaves no time for other events.
        await setImmediate();
      } while (!isOver);
      expect(await running).toMatchObject({ stdout: output, exitCode: 0 });
      await hostile.dispose();
      await neighbour.dispose();
    }),
  );
});
