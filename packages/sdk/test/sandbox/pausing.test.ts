// Tests runtimes that are being paused. Calls after `pause()` are refused, and programs that are
// ended during the pause stay ended.

import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { NodeRuntime, type PermissionEvent, Sidecar } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';
import { evaluate, until, usePrivateStoreFolder } from './snapshot-helpers.js';

const folder = usePrivateStoreFolder();
const paused = { code: 'ERR_RUNTIME_PAUSED' };

describe.each(MODES)('$name', (mode) => {
  test('a pausing runtime refuses calls through every handle', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec('globalThis.n = 1');
      const program = await runtime.spawn('process.stdin.on("data", (data) => process.stdout.write(data)).on("end", () => {})');
      const stream = runtime.createWriteStream('/tmp/file');
      await new Promise((resolve) => stream.write('first', resolve));
      const failed = new Promise((resolve) => stream.once('error', resolve));
      const pausing = runtime.pause();
      stream.end('second');
      const calls = [runner.exec('n = 2'), program.writeStdin('lost'), program.kill(), program.closeStdin()];
      await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject(paused)));
      expect(await failed).toMatchObject(paused);
      const snapshot = await pausing;
      await runtime.resume();
      expect(await evaluate(runner, 'n')).toBe('1');
      expect(Buffer.from(await runtime.readFile('/tmp/file')).toString()).toBe('first');
      await program.writeStdin('kept');
      await program.closeStdin();
      expect(await program.result).toMatchObject({ exitCode: 0, stdout: 'kept' });
      await snapshot.delete();
    }));

  test('programs and snippets that are ended while pausing stay ended, and a runner still works', () =>
    withRuntime(mode, {}, async (runtime) => {
      const [kept, ended] = [await runtime.createResidentRunner(), await runtime.createResidentRunner()];
      const [program, snippet] = [new AbortController(), new AbortController()];
      const running = runtime.exec('setInterval(() => {}, 1_000)', { signal: program.signal });
      const evaluating = kept.exec('await new Promise(() => setInterval(() => {}, 1_000))', { signal: snippet.signal });
      await until(async () => (await runtime.processes()).length === 3);
      const pausing = runtime.pause();
      program.abort('one');
      snippet.abort('two');
      await Promise.all([expect(running).rejects.toBe('one'), expect(evaluating).rejects.toBe('two'), ended.dispose()]);
      const snapshot = await pausing;
      await runtime.resume();
      expect(await evaluate(kept, '"answers"')).toBe('answers');
      await until(async () => (await runtime.processes()).length === 1);
      expect((await runtime.residentRunners()).map(({ pid }) => pid)).toEqual([kept.pid]);
      await snapshot.delete();
    }));

  test('programs that are ended while two runtimes are pausing stay ended', () =>
    withRuntime(mode, {}, async (runtime) => {
      const other = await runtime.clone();
      const controller = new AbortController();
      const running = runtime.exec('setInterval(() => {}, 1_000)', { signal: controller.signal });
      await until(async () => (await runtime.processes()).length === 1);
      const pausing = [runtime.pause(), other.pause()];
      controller.abort('enough');
      await expect(running).rejects.toBe('enough');
      const snapshots = await Promise.all(pausing);
      await runtime.resume();
      await until(async () => (await runtime.processes()).length === 0);
      await other.dispose();
      await Promise.all(snapshots.map((snapshot) => snapshot.delete()));
    }));

  test('a concurrent rollback happens before the pause or fails', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.writeFile('/workspace/state', 'before');
      const checkpoint = await runtime.snapshot({ store: 'disk' });
      await runtime.writeFile('/workspace/state', 'after');
      const [rollback, pause] = await Promise.allSettled([runtime.rollback(checkpoint), runtime.pause()]);
      if (pause.status === 'rejected') throw pause.reason;
      if (rollback.status === 'rejected') expect(rollback.reason).toMatchObject(paused);
      await runtime.resume();
      const state = rollback.status === 'fulfilled' ? 'before' : 'after';
      expect(Buffer.from(await runtime.readFile('/workspace/state')).toString()).toBe(state);
      await Promise.all([checkpoint.delete(), pause.value.delete()]);
    }));

  test('a permission listener receives decisions again after a resumption', () =>
    withRuntime(mode, { permissions: { fs: 'allow' } }, async (runtime) => {
      const events: PermissionEvent[] = [];
      const stop = await runtime.onPermission((event) => events.push(event));
      const decisionAbout = async (name: string): Promise<void> => {
        await runtime.exec(`process.getBuiltinModule('node:fs').writeFileSync('/tmp/${name}', '')`);
        await until(() => events.some(({ resource }) => resource === `/tmp/${name}`));
      };
      await decisionAbout('a');
      const snapshot = await runtime.pause();
      await runtime.resume();
      await decisionAbout('b');
      await stop();
      await snapshot.delete();
    }));

  test('dispose() while pausing ends all waits', () =>
    withMode(mode, async ({ create }) => {
      const runtime = await create();
      const other = await runtime.clone(); // keeps the sidecar running
      const running = runtime.exec('setInterval(() => {}, 1_000)');
      await until(async () => (await runtime.processes()).length === 1);
      const [pausing] = await Promise.allSettled([runtime.pause(), runtime.dispose()]);
      expect(await running).toMatchObject({ exitCode: 137, error: { code: 'ERR_RUNTIME_DISPOSED' } });
      if (pausing.status === 'fulfilled') await pausing.value.delete();
      await other.dispose();
    }));
});

describe.each([
  ['process', (directory: string) => Sidecar.spawn({ snapshots: { directory } })],
  ['embedded', (directory: string) => Sidecar.embedded({ snapshots: { directory } })],
] as const)('%s', (_, open) => {
  test('a runtime whose snapshot cannot be written keeps running, and programs that were ended meanwhile end', async () => {
    const file = `${folder.path()}/no-folder`;
    writeFileSync(file, '');
    const sidecar = await open(file);
    try {
      const runtime = await NodeRuntime.create({ sidecar });
      const [kept, ended] = [await runtime.createResidentRunner(), await runtime.createResidentRunner()];
      await kept.exec('globalThis.n = 42');
      const controller = new AbortController();
      const running = runtime.exec('setInterval(() => {}, 1_000)', { signal: controller.signal });
      await until(async () => (await runtime.processes()).length === 3);
      const failing = runtime.pause();
      controller.abort('enough');
      await Promise.all([
        expect(running).rejects.toBe('enough'),
        expect(failing).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_FILE' }),
        ended.dispose(),
      ]);
      expect(runtime.state).toBe('running');
      expect(await evaluate(kept, 'n')).toBe('42');
      await until(async () => (await runtime.processes()).length === 1);
    } finally {
      await sidecar.dispose();
    }
  });
});
