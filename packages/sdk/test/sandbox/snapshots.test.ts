// Tests snapshots of runtimes: take, restore, rollback, clone.

import { describe, expect, test } from 'vitest';
import { NodeRuntime, type NodeRuntimeOptions } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { disposeAll, evaluate, runnerOf, until, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

describe.each(MODES)('$name', (mode) => {
  test('a snapshot has the name, labels and facts of its runtime', () =>
    withRuntime(mode, { tenant: 'ann' }, async (runtime) => {
      await runtime.writeFile('/workspace/a', 'x'.repeat(100_000));
      const before = Date.now();
      const first = await runtime.snapshot();
      const second = await runtime.snapshot({ name: 'größer', labels: { why: 'test', empty: '' } });
      expect(first.name).toBeUndefined();
      expect(first).toMatchObject({ labels: {}, tenant: 'ann', stored: 'memory', programs: 0 });
      expect(second).toMatchObject({ name: 'größer', labels: { why: 'test', empty: '' }, programs: 0 });
      expect(second.id).toMatch(/^snap-[a-z0-9]{26}$/);
      expect(second.id).not.toBe(first.id);
      expect(second.imageVersion).toMatch(/^[0-9a-f]{64}$/);
      expect(second.size).toBeGreaterThanOrEqual(100_000);
      expect(second.createdAt.getTime()).toBeGreaterThanOrEqual(before - 1_000);
      expect(second.createdAt.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
    }));

  test('a restored runtime has the files and runners of the snapshot and is independent', () =>
    withRuntime(mode, { env: { A: '1' }, cwd: '/tmp' }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec('globalThis.n = 40; (await import("node:fs")).writeFileSync("/workspace/n", "40")');
      const snapshot = await runtime.snapshot();
      await runner.exec('n = 0');
      await runtime.remove('/workspace/n');
      const copy = await NodeRuntime.create({ snapshot });
      try {
        const copied = await runnerOf(copy);
        expect(copied.pid).toBe(runner.pid);
        expect(await evaluate(copied, '++n, n, process.env.A, process.cwd()')).toBe('41 41 1 /tmp');
        expect(Buffer.from(await copy.readFile('/workspace/n')).toString()).toBe('40');
        expect((await copy.exec('console.log(process.cwd(), process.env.A)')).stdout).toBe('/tmp 1\n');
        expect(await evaluate(runner, 'n')).toBe('0');
        await expect(runtime.readFile('/workspace/n')).rejects.toMatchObject({ code: 'ENOENT' });
        // A snapshot of the restored runtime names the first snapshot as its parent.
        const next = await copy.snapshot();
        expect(next.parent).toBe(snapshot.id);
        expect(snapshot.parent).toBeUndefined();
      } finally {
        await copy.dispose();
      }
      expect(await evaluate(runner, 'n')).toBe('0');
    }));

  test('options of create() replace the options in the snapshot', () =>
    withRuntime(mode, { env: { A: '1', B: '1' }, permissions: { childProcess: 'deny' } }, async (runtime) => {
      const snapshot = await runtime.snapshot();
      const plain = await NodeRuntime.create({ snapshot });
      const other = await NodeRuntime.create({
        snapshot,
        env: { B: '2' },
        cwd: '/home/user',
        limits: { processes: 2 },
        permissions: { fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/workspace'] }] } },
      });
      try {
        expect(plain.permissions.childProcess).toBe('deny');
        expect(other.permissions.childProcess).toBe('allow');
        const printed = 'console.log(process.env.A, process.env.B, process.cwd())';
        expect((await plain.exec(printed)).stdout).toBe('1 1 /workspace\n');
        expect((await other.exec(printed)).stdout).toBe('1 2 /home/user\n');
        expect((await other.exec('(await import("node:fs")).readdirSync("/workspace")')).stderr).toContain('EACCES');
        expect((await other.getResourceSnapshot()).limits.processes.max).toBe(2);
        expect((await plain.getResourceSnapshot()).limits.processes.max).toBe(256);
      } finally {
        await disposeAll([plain, other]);
      }
    }));

  test('a rollback restores files, memory and programs, and pending results keep waiting', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec('globalThis.n = 1');
      await runtime.writeFile('/workspace/a', 'before');
      const within = runtime.exec('await new Promise((r) => setTimeout(r, 400)); console.log("within")');
      await until(async () => (await runtime.processes()).length === 2);
      const snapshot = await runtime.snapshot();
      await runner.exec('n = 2');
      await runtime.writeFile('/workspace/a', 'after');
      await runtime.writeFile('/workspace/b', 'after');
      const after = runtime.exec('setTimeout(() => {}, 60_000)');
      const other = await runtime.createResidentRunner();
      const busy = other.exec('setTimeout(() => {}, 60_000)');
      const behind = other.exec('console.log("never")');
      await until(async () => (await runtime.processes()).length === 4);
      await runtime.rollback(snapshot);
      expect(await after).toMatchObject({ exitCode: 137, error: { code: 'ERR_ROLLED_BACK' } });
      expect(await busy).toMatchObject({ exitCode: 137, error: { code: 'ERR_ROLLED_BACK' } });
      expect(await behind).toMatchObject({ exitCode: 137, stdout: '', error: { code: 'ERR_ROLLED_BACK' } });
      await expect(other.exec('1')).rejects.toMatchObject({ code: expect.stringMatching(/ERR_RUNNER_EXITED|ERR_ROLLED_BACK/) });
      expect(await evaluate(runner, 'n')).toBe('1');
      expect(Buffer.from(await runtime.readFile('/workspace/a')).toString()).toBe('before');
      expect(await runtime.exists('/workspace/b')).toBe(false);
      expect(await within).toMatchObject({ exitCode: 0, stdout: 'within\n' });
      expect((await runtime.residentRunners()).map(({ pid }) => pid)).toEqual([runner.pid]);
      expect((await runtime.exec('console.log("alive")')).stdout).toBe('alive\n');
    }));

  test('a rollback restores a disposed runner with a new handle', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec('globalThis.n = 7');
      const first = await runtime.snapshot();
      await runner.dispose();
      const second = await runtime.snapshot();
      await runtime.rollback(first);
      expect(await evaluate(await runnerOf(runtime), 'n')).toBe('7');
      await runtime.rollback(second);
      expect(await runtime.residentRunners()).toEqual([]);
      await runtime.rollback(first.id);
      expect(await evaluate(await runnerOf(runtime), 'n')).toBe('7');
    }));

  test('20 clones have a loaded package and data in memory, and different random numbers', () =>
    withRuntime(
      mode,
      { files: { '/workspace/node_modules/lib/index.js': 'exports.times = (n) => n * 2; exports.loaded = Date.now();' } },
      async (runtime) => {
        const runner = await runtime.createResidentRunner();
        await runner.exec(`
          import { createRequire } from 'node:module';
          globalThis.lib = createRequire('/workspace/')('lib');
          globalThis.data = Array.from({ length: 10_000 }, (_, at) => lib.times(at));
        `);
        const copies = await runtime.clone(20);
        try {
          expect(copies).toHaveLength(20);
          const lines = await Promise.all(
            copies.map(async (copy) =>
              evaluate(
                await runnerOf(copy),
                'lib.times(21), data.length, data[9_999], lib.loaded, Math.random(), crypto.randomUUID()',
              ),
            ),
          );
          const loaded = await evaluate(runner, 'lib.loaded');
          const [same, drawn] = [new Set<string>(), new Set<string>()];
          for (const line of lines) {
            const words = line.split(' ');
            same.add(words.slice(0, 4).join(' '));
            for (const word of words.slice(4)) drawn.add(word);
          }
          expect([...same]).toEqual([`42 10000 19998 ${loaded}`]);
          expect(drawn.size).toBe(40);
        } finally {
          await disposeAll(copies);
        }
      },
    ));

  test('clone() returns a runtime, clone(n) returns a list, and clone(n) with settle returns results', () =>
    withRuntime(mode, {}, async (runtime) => {
      const one = await runtime.clone();
      const none = await runtime.clone({ timeoutMs: 1_000 });
      const settled = await runtime.clone(2, { settle: true });
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
      const copies = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      for (const copy of [one, none, ...copies]) expect((await copy.exec('console.log(1)')).stdout).toBe('1\n');
      await disposeAll([one, none, ...copies]);
    }));

  test('an owned sidecar runs until the last clone is disposed', () =>
    withRuntime(mode, {}, async (runtime) => {
      const [first, second] = (await runtime.clone(2)) as [NodeRuntime, NodeRuntime];
      await runtime.dispose();
      expect((await first.exec('console.log("first")')).stdout).toBe('first\n');
      await first.dispose();
      expect((await second.exec('console.log("second")')).stdout).toBe('second\n');
      const snapshot = await second.snapshot();
      const third = await NodeRuntime.create({ snapshot });
      await second.dispose();
      expect((await third.exec('console.log("third")')).stdout).toBe('third\n');
      await third.dispose();
      await expect(third.snapshot()).rejects.toMatchObject({ code: 'ERR_RUNTIME_DISPOSED' });
    }));

  test('the guest gets an event with the suspended time, and timers keep their remaining time', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`
        globalThis.events = [];
        process.on('coldframe:restore', (event) => events.push(event));
        globalThis.left = performance.now() + 300;
        globalThis.fired = new Promise((resolve) => setTimeout(() => resolve(performance.now()), 300).unref());
      `);
      const snapshot = await runtime.snapshot();
      await new Promise((resolve) => setTimeout(resolve, 600));
      const copy = await NodeRuntime.create({ snapshot });
      try {
        const copied = await runnerOf(copy);
        expect(await evaluate(copied, 'events.length, typeof events[0].asleepMs, events[0].asleepMs >= 500')).toBe(
          '1 number true',
        );
        // The clock of the restored runtime continues from the time of the snapshot, so the timer
        // keeps its remaining time.
        const due = '(await new Promise((r) => setTimeout(r, 400)), Math.abs((await fired) - left) < 200)';
        expect(await evaluate(copied, due)).toBe('true');
        expect(await evaluate(runner, 'events.length')).toBe('0');
      } finally {
        await copy.dispose();
      }
    }));

  test('the first handle of a program of a snapshot receives its whole output', () =>
    withRuntime(mode, {}, async (runtime) => {
      const program = await runtime.spawn(`
        console.log('early');
        process.stdin.on('data', (data) => { console.log('got ' + data); process.exit(5); });
      `);
      for await (const chunk of program.stdout) if (String(Buffer.from(chunk)).includes('early')) break;
      await until(async () => (await runtime.processes()).length === 1);
      const runner = await runtime.createResidentRunner();
      const copies = (await runtime.clone(2)) as [NodeRuntime, NodeRuntime];
      try {
        for (const copy of copies) {
          const entries = await copy.processes();
          const entry = entries.find(({ pid }) => pid === program.pid);
          const resident = entries.find(({ pid }) => pid === runner.pid);
          await expect(resident?.attach()).rejects.toMatchObject({ code: 'EPERM', syscall: 'attach' });
          const handle = await entry?.attach();
          const second = await entry?.attach();
          const events: string[] = [];
          const reading = (async () => {
            for await (const chunk of handle?.stdout ?? []) events.push(String(Buffer.from(chunk)));
          })();
          await handle?.writeStdin('now');
          expect(await handle?.wait()).toBe(5);
          await reading;
          expect(events.join('')).toBe('early\ngot now\n');
          expect(await handle?.result).toMatchObject({ exitCode: 5, stdout: 'early\ngot now\n' });
          expect(await second?.result).toMatchObject({ exitCode: 5, stdout: '' });
          expect(await (await entry?.attach())?.wait()).toBe(5);
        }
        // The original program must not have received the input.
        expect(program.exitCode).toBeUndefined();
        await program.writeStdin('later');
        expect(await program.result).toMatchObject({ exitCode: 5, stdout: 'early\ngot later\n' });
      } finally {
        await disposeAll(copies);
      }
    }));

  test('refuses wrong options by name', () =>
    withRuntime(mode, {}, async (runtime) => {
      const wrong = (option: string) => ({ code: 'ERR_INVALID_OPTION', option });
      const any = (value: unknown) => value as never;
      await expect(runtime.snapshot({ name: '' })).rejects.toMatchObject(wrong('name'));
      await expect(runtime.snapshot({ name: `snap-${'0a'.repeat(13)}` })).rejects.toMatchObject(wrong('name'));
      await expect(runtime.snapshot({ labels: any({ a: 1 }) })).rejects.toMatchObject(wrong('labels'));
      await expect(runtime.snapshot({ store: any('tape') })).rejects.toMatchObject(wrong('store'));
      await expect(runtime.snapshot(any({ tags: {} }))).rejects.toMatchObject(wrong('tags'));
      await expect(runtime.rollback(any(1))).rejects.toMatchObject(wrong('snapshot'));
      await expect(runtime.clone(0)).rejects.toMatchObject(wrong('n'));
      await expect(runtime.clone(1, { settle: any(1) })).rejects.toMatchObject(wrong('settle'));
      await expect(runtime.pause({ timeoutMs: 0 })).rejects.toMatchObject(wrong('timeoutMs'));
      await expect(runtime.snapshots.get('')).rejects.toMatchObject(wrong('id'));
      await expect(runtime.snapshots.import('')).rejects.toMatchObject(wrong('path'));
      const create = (options: NodeRuntimeOptions) => NodeRuntime.create(options);
      await expect(create({ snapshot: '' })).rejects.toMatchObject(wrong('snapshot'));
      await expect(create({ snapshot: 'a', files: {} })).rejects.toMatchObject(wrong('files'));
      await expect(create({ tenant: 'x'.repeat(201) })).rejects.toMatchObject(wrong('tenant'));
      await expect(runtime.rollback('nothing')).rejects.toMatchObject({
        code: 'ERR_SNAPSHOT_NOT_FOUND',
        snapshot: 'nothing',
      });
    }));

  test('names a program that does not quiesce and changes nothing', () =>
    withRuntime(mode, {}, async (runtime) => {
      const endless = runtime.exec('while (true);', { timeout: 3_000 });
      await until(async () => (await runtime.processes()).length === 1);
      const refusal = { code: 'ERR_NOT_QUIET', pid: 2, command: expect.stringContaining('node') };
      await expect(runtime.snapshot({ timeoutMs: 100 })).rejects.toMatchObject(refusal);
      await expect(runtime.clone({ timeoutMs: 100 })).rejects.toMatchObject(refusal);
      await expect(runtime.pause({ timeoutMs: 100 })).rejects.toMatchObject(refusal);
      expect(runtime.state).toBe('running');
      expect((await runtime.exec('console.log(1)')).stdout).toBe('1\n');
      expect(await endless).toMatchObject({ exitCode: 124 });
    }));
});
