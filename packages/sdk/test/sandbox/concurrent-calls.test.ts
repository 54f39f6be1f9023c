// Makes a thousand calls, of all kinds together, at once to eight live runtimes in one sidecar.
// Every call must get its own result.

import { expect, test } from 'vitest';
import type { NodeRuntime, ResidentRunner } from '../../src/index.js';
import { MODES, withMode } from './modes.js';

const RUNTIMES = 8;
const CALLS = 1_000;

interface Target {
  runtime: NodeRuntime;
  runner: ResidentRunner;
  secret: string;
}

type Kind = (target: Target, n: number) => Promise<string>;

/** The kinds of calls. Each function returns the secret and the number. */
const KINDS: Record<string, Kind> = {
  exec: async ({ runtime }, n) => (await runtime.exec(`process.stdout.write(process.env.SECRET + ' ${n}')`)).stdout,
  run: async ({ runtime }, n) => (await runtime.run<string>(`__return(process.env.SECRET + ' ${n}')`)).value ?? 'no value',
  execFile: async ({ runtime }, n) => (await runtime.execFile('/workspace/print.cjs', { args: [`${n}`] })).stdout,
  stdin: async ({ runtime, secret }, n) =>
    (await runtime.exec('process.stdin.pipe(process.stdout)', { stdin: `${secret} ${n}` })).stdout,
  files: async ({ runtime, secret }, n) => {
    const path = `/workspace/out/${n}`;
    await runtime.writeFile(path, `${secret} `);
    const { exitCode } = await runtime.exec(`import { appendFileSync } from 'node:fs'; appendFileSync('${path}', '${n}')`);
    return exitCode === 0 ? new TextDecoder().decode(await runtime.readFile(path)) : `exit code ${exitCode}`;
  },
  timers: async ({ runtime }, n) =>
    (
      await runtime.exec(
        `await new Promise((done) => setTimeout(done, ${n % 7})); process.stdout.write(process.env.SECRET + ' ${n}')`,
      )
    ).stdout,
  runner: async ({ runner }, n) => (await runner.exec(`process.stdout.write(process.env.SECRET + ' ${n}')`)).stdout,
  shell: async ({ runtime }, n) => (await runtime.execCommand('sh', ['-c', `printf '%s %s' "$SECRET" ${n}`])).stdout,
  pipeline: async ({ runtime }, n) =>
    (await runtime.execCommand('sh', ['-c', `node -p 'process.env.SECRET + " " + ${n}' | tr -d '\\n'`])).stdout,
  spawn: async ({ runtime }, n) => {
    const child = await runtime.spawn(
      `process.stdin.on('data', (data) => process.stdout.write(process.env.SECRET + ' ' + data))`,
    );
    await child.writeStdin(`${n}`);
    await child.closeStdin();
    return (await child.result).stdout;
  },
  failure: async ({ runtime, secret }, n) => {
    const { exitCode, stderr } = await runtime.exec(`throw new Error(process.env.SECRET + ' ${n}')`);
    return exitCode === 1 && stderr.includes(`Error: ${secret} ${n}\n`) ? `${secret} ${n}` : stderr;
  },
  timeout: async ({ runtime, secret }, n) => {
    const { exitCode, error } = await runtime.exec('await new Promise(() => setInterval(() => {}, 1000))', { timeout: 50 });
    return exitCode === 124 && error?.code === 'ERR_TIMEOUT' ? `${secret} ${n}` : `${exitCode} ${error?.code}`;
  },
};

test.each(MODES.filter(({ name }) => name !== 'owned'))(
  '$name: a thousand calls of every kind at once each get their own result',
  (mode) =>
    withMode(mode, async ({ create }) => {
      const targets = await Promise.all(
        Array.from({ length: RUNTIMES }, async (_, index): Promise<Target> => {
          const secret = `secret ${index}`;
          const files = { '/workspace/print.cjs': "process.stdout.write(process.env.SECRET + ' ' + process.argv[2])" };
          // The default of 256 processes would refuse some of the calls.
          const runtime = await create({ env: { SECRET: secret }, files, limits: { processes: 2_000 } });
          return { runtime, runner: await runtime.createResidentRunner(), secret };
        }),
      );
      const kinds = Object.entries(KINDS);
      const calls = Array.from({ length: CALLS }, async (_, n) => {
        const target = targets[n % RUNTIMES] as Target;
        const [name, call] = kinds[Math.floor(n / RUNTIMES) % kinds.length] as [string, Kind];
        const result = await call(target, n).catch(String);
        return result === `${target.secret} ${n}` ? undefined : `${name} ${n}: ${result}`;
      });
      const wrong = (await Promise.all(calls)).filter((each) => each !== undefined);
      expect(wrong).toEqual([]);
      for (const { runtime, runner } of targets) {
        await runner.dispose();
        expect(await runtime.processes()).toEqual([]);
        await runtime.dispose();
      }
    }),
  120_000,
);
