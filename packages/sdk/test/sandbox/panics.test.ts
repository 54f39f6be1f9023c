// Panics of the sidecar at named places. A panic ends the program, the call or the runtime that the
// panic happens in. Only a panic in a change of the process's state ends the process.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { deferred } from '../../src/deferred.js';
import { NodeRuntime, Sidecar } from '../../src/index.js';
import { MODES, withMode } from './modes.js';
import { LONGEST_BUILD_MS, useStandIn } from './stand-in.js';

const at = (call: string): string => `import fs from 'node:fs'; import c from 'node:crypto'; ${call}`;
const CALL = at("fs.accessSync('/panic-at:guest-call')");
const CHANGE = at("fs.mkdirSync('/panic-at:file-lock')");
const COMPUTATION = at("c.pbkdf2Sync('panic-at:crypto-job', 's', 1, 4, 'sha1')");
const BACKGROUND = at("c.pbkdf2('panic-at:crypto-job', 's', 1, 4, 'sha1', () => {})");
const PROCESS = at("fs.accessSync('/panic-at:process-lock')");
const ENDLESS = 'console.log("runs"); setInterval(() => {}, 1_000)';

const internal = (ended: string): object => ({
  code: 'ERR_INTERNAL',
  ended,
  place: expect.stringMatching(/^crates\/\w+\/src\/[\w/]+\.rs:\d+$/),
});

async function expectToRun(runtime: NodeRuntime): Promise<void> {
  expect(await runtime.exec('console.log(1 + 1)')).toMatchObject({ stdout: '2\n', exitCode: 0 });
}

/** Starts a program that runs until it is ended. Resolves when the program runs. */
async function endless(runtime: NodeRuntime): Promise<{ result: ReturnType<NodeRuntime['exec']>; abort: AbortController }> {
  const abort = new AbortController();
  const started = deferred<void>();
  const result = runtime.exec(ENDLESS, { onStdout: () => started.resolve(), signal: abort.signal });
  result.catch(() => {});
  await started.promise;
  return { result, abort };
}

let environment: Record<string, string> = {};
beforeAll(() => {
  environment = useStandIn();
}, LONGEST_BUILD_MS);

describe.each(MODES)('$name', (mode) => {
  test('a panic in a call of a program ends the program', async () => {
    await withMode(mode, async ({ create }) => {
      await using runtime = await create();
      await using other = await create();
      const beside = await endless(runtime);
      for (const source of [CALL, COMPUTATION, BACKGROUND]) {
        const result = await runtime.exec(source);
        expect(result, source).toMatchObject({ exitCode: 137, error: internal('program') });
        expect(JSON.stringify(result), 'the message of the panic').not.toContain('stand-in was asked');
      }
      await expectToRun(runtime);
      await expectToRun(other);
      beside.abort.abort(new Error('the program runs until here'));
      await expect(beside.result).rejects.toThrow('the program runs until here');
    });
  });

  test('a panic in a change ends the runtime, which can be disposed', async () => {
    await withMode(mode, async ({ create }) => {
      await using other = await create();
      const beside = await endless(other);
      for (const change of ['of a program', 'of the app']) {
        const runtime = await create();
        const runner = await runtime.createResidentRunner();
        const waiting = await endless(runtime);
        if (change === 'of a program') {
          expect(await runtime.exec(CHANGE)).toMatchObject({ exitCode: 137, error: internal('runtime') });
        } else {
          await expect(runtime.mkdir('/panic-at:file-lock')).rejects.toMatchObject(internal('runtime'));
        }
        expect(await waiting.result).toMatchObject({ error: internal('runtime') });
        const calls = [
          () => runtime.exec('1'),
          () => runner.exec('1'),
          () => runtime.createResidentRunner(),
          () => runtime.readDir('/'),
          () => runtime.snapshot(),
          () => runtime.clone(),
          () => runtime.pause(),
          () => runtime.listeners(),
          () => runtime.processes(),
          () => runtime.getResourceSnapshot(),
          () => runtime.setPermissions({}),
        ];
        for (const call of calls) await expect(call(), String(call)).rejects.toMatchObject(internal('runtime'));
        await runtime.dispose();
        await expectToRun(other);
      }
      beside.abort.abort(new Error('the program runs until here'));
      await expect(beside.result).rejects.toThrow('the program runs until here');
    });
  });

  test('a panic in a call of the app ends the call', async () => {
    await withMode(mode, async ({ create }) => {
      await using runtime = await create();
      for (const isBusy of [false, true]) {
        const beside = isBusy ? await endless(runtime) : undefined;
        await expect(runtime.stat('/panic-at:owner-request')).rejects.toMatchObject(internal('request'));
        await expectToRun(runtime);
        expect(await runtime.readDir('/workspace')).toEqual([]);
        beside?.abort.abort(new Error('the program runs until here'));
        await beside?.result.catch(() => {});
      }
    });
  });
});

test('panics leave no program, no runtime and no buffer', async () => {
  await using sidecar = await Sidecar.spawn();
  for (let round = 0; round < 20; round++) {
    for (const source of [CALL, CHANGE, COMPUTATION, BACKGROUND]) {
      await using runtime = await NodeRuntime.create({ sidecar });
      const results = await Promise.all(
        [runtime.exec(source), runtime.exec(source), runtime.exec('1')].map((call) => call.catch((error) => error)),
      );
      expect(
        results.some(({ code, error }) => (error ?? { code }).code === 'ERR_INTERNAL'),
        source,
      ).toBe(true);
    }
    await sidecar.ping();
  }
  // A thread that has contained a panic may release the runtime shortly after its disposal.
  const held = () => sidecar.getResourceSnapshot();
  await expect.poll(held).toMatchObject({ runtimes: 0, processes: 0, bufferedBytes: 0 });
});

test('a panic in a change of the process ends the process', async () => {
  await using sidecar = await Sidecar.spawn();
  await using runtime = await NodeRuntime.create({ sidecar });
  await using other = await NodeRuntime.create({ sidecar });
  const beside = await endless(other);
  await expect(runtime.exec(PROCESS)).rejects.toMatchObject({
    code: 'ERR_SIDECAR_EXITED',
    signal: 'SIGABRT',
    stderr: expect.stringMatching(/internal error: panicked at crates\/kernel\/src\/[\w/]+\.rs:\d+: /),
  });
  await expect(beside.result).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED' });
});

test('a panic in a change of the process ends the app in embedded mode', async () => {
  const fixture = fileURLToPath(new URL('../fixtures/embedded-panic.mjs', import.meta.url));
  const app = spawn(process.execPath, [fixture], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment } });
  const [stdout, stderr, [, signal]] = await Promise.all([text(app.stdout), text(app.stderr), once(app, 'exit')]);
  expect([stdout, signal]).toEqual(['started\n', 'SIGABRT']);
  expect(stderr).toContain('coldframe: internal error: panicked at crates/kernel/src/');
});
