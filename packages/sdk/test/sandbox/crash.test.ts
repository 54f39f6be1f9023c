// Kills or disposes sidecars with calls in flight, and kills the parent of a sidecar. Pending calls
// must reject, and no process may remain.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { NodeRuntime, Sidecar } from '../../src/index.js';
import { childrenOf, isRunning, processExists, sleep, until } from './processes.js';

const KILLS = 20;

test(`every call rejects with one code, and the next create works, after kill -9 of a busy sidecar, ${KILLS} times`, async () => {
  for (let round = 0; round < KILLS; round++) {
    const sidecar = await Sidecar.spawn();
    const runtimes = await Promise.all(Array.from({ length: 4 }, () => NodeRuntime.create({ sidecar })));
    const runner = await (runtimes[0] as NodeRuntime).createResidentRunner();
    let killed = false;
    const codes: unknown[] = [];
    const record = (error: { code?: unknown }): void => {
      codes.push(killed ? error.code : `before: ${String(error)}`);
    };
    // Each worker repeats its call until the call rejects, so the kill interrupts calls of every
    // kind at different times.
    const worker = async (call: () => Promise<unknown>): Promise<void> => {
      for (;;) {
        try {
          await call();
        } catch (error) {
          return record(error as { code?: unknown });
        }
      }
    };
    const any = (i: number): NodeRuntime => runtimes[i % runtimes.length] as NodeRuntime;
    const calls = [
      ...Array.from({ length: 8 }, (_, i) => () => any(i).exec('console.log(1)')),
      () => any(0).exec('while (true);'),
      () => any(1).exec('await new Promise((r) => setTimeout(r, 60_000))'),
      () => any(2).run('__return([1, 2, 3])'),
      () => any(3).exec('for (let i = 0; i < 3000; i++) console.log("x".repeat(1000))', { onStdout: () => sleep(1) }),
      () => runner.exec('globalThis.n = (globalThis.n ?? 0) + 1'),
      () => sidecar.ping(),
      () => any(0).getResourceSnapshot(),
      () => NodeRuntime.create({ sidecar }).then((runtime) => runtime.dispose()),
    ];
    const workers = calls.map(worker);
    await sleep(Math.random() * 60);
    killed = process.kill(sidecar.pid, 'SIGKILL');
    await Promise.all(workers);
    expect(codes).toEqual(calls.map(() => 'ERR_SIDECAR_EXITED'));
    await expect(sidecar.ping()).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED', signal: 'SIGKILL', pid: sidecar.pid });
    await Promise.all([...runtimes.map((runtime) => runtime.dispose()), runner.dispose(), sidecar.dispose()]);
    expect(processExists(sidecar.pid)).toBe(false);
    const next = await NodeRuntime.create();
    expect((await next.exec('console.log("alive")')).stdout).toBe('alive\n');
    await next.dispose();
  }
});

test('calls of an owned runtime reject after its sidecar is killed', async () => {
  const before = childrenOf();
  const runtime = await NodeRuntime.create();
  const [pid] = childrenOf().filter((child) => !before.includes(child));
  const running = runtime.exec('while (true);');
  process.kill(pid as number, 'SIGKILL');
  await expect(running).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED', signal: 'SIGKILL', pid });
  await expect(runtime.exec('1')).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED' });
  await runtime.dispose();
});

test('disposing a shared sidecar rejects pending calls and ends its runtimes', async () => {
  const sidecar = await Sidecar.spawn();
  const runtime = await NodeRuntime.create({ sidecar });
  const failed = expect(runtime.exec('while (true);')).rejects.toMatchObject({ code: 'ERR_SIDECAR_DISPOSED' });
  await sidecar.dispose();
  await failed;
  expect(processExists(sidecar.pid)).toBe(false);
  await expect(NodeRuntime.create({ sidecar })).rejects.toMatchObject({ code: 'ERR_SIDECAR_DISPOSED' });
  await runtime.dispose();
});

test.each(['owned', 'shared'])('a sidecar (%s) ends with its parent while guests run', async (kind) => {
  const parent = fileURLToPath(new URL('../fixtures/busy-parent.mjs', import.meta.url));
  const child = spawn(process.execPath, [parent, kind], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ready = await new Promise<string>((resolve) => child.stdout.once('data', (data) => resolve(String(data))));
  expect(ready).toBe('running\n');
  const sidecars = childrenOf(child.pid);
  expect(sidecars).toHaveLength(1);
  child.kill('SIGKILL');
  await until(() => !sidecars.some(isRunning), 2_000, 'the sidecar has ended');
});
