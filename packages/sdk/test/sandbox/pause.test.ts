// Tests paused runtimes. During a pause, pending results keep waiting and calls are refused. The
// resumed runtime has its whole state.

import { describe, expect, test } from 'vitest';
import { type GuestStream, NodeRuntime, Sidecar } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';
import { evaluate, runnerOf, until, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();
const paused = { code: 'ERR_RUNTIME_PAUSED' };

/** Reads `items` to the end. All bytes must be bytes of the first file. */
async function rest(items: AsyncIterator<unknown>): Promise<void> {
  for (let item = await items.next(); !item.done; item = await items.next()) {
    if (item.value instanceof Uint8Array) expect(String(item.value)).toMatch(/^a+$/);
  }
}

describe.each(MODES)('$name', (mode) => {
  test('a runtime keeps its state over 20 pauses', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec('globalThis.n = 0');
      for (let at = 1; at <= 20; at++) {
        await runner.exec('n++');
        await runtime.writeFile(`/workspace/${at}`, String(at));
        const snapshot = await runtime.pause();
        expect([runtime.state, snapshot.stored]).toEqual(['paused', 'disk']);
        await runtime.resume();
        expect(runtime.state).toBe('running');
        await snapshot.delete();
      }
      expect(await evaluate(runner, 'n')).toBe('20');
      expect((await runtime.readDir('/workspace')).length).toBe(20);
    }));

  test('a running program continues after the resumption, and its result arrives', () =>
    withRuntime(mode, {}, async (runtime) => {
      const seen: string[] = [];
      const running = runtime.exec(
        'console.log("one"); await new Promise((r) => setTimeout(r, 300)); console.log("two"); process.exit(3)',
        { onStdout: (chunk) => seen.push(String(Buffer.from(chunk))) },
      );
      const runner = await runtime.createResidentRunner();
      const evaluation = runner.exec('await new Promise((r) => setTimeout(r, 300)); console.log("evaluated")');
      await until(() => seen.join('') === 'one\n');
      const snapshot = await runtime.pause();
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(seen.join('')).toBe('one\n');
      await runtime.resume();
      expect(await running).toMatchObject({ exitCode: 3, stdout: 'one\ntwo\n' });
      expect(seen.join('')).toBe('one\ntwo\n');
      expect(await evaluation).toMatchObject({ exitCode: 0, stdout: 'evaluated\n' });
      await snapshot.delete();
    }));

  test('a paused runtime refuses calls', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const program = await runtime.spawn('process.stdin.resume()');
      const [first, second] = await Promise.all([runtime.pause(), runtime.pause()]);
      expect(first).toBe(second);
      expect(await runtime.pause()).toBe(first);
      await expect(runtime.exec('1')).rejects.toMatchObject(paused);
      await expect(runtime.readFile('/a')).rejects.toMatchObject(paused);
      await expect(runtime.snapshot()).rejects.toMatchObject(paused);
      await expect(runtime.clone()).rejects.toMatchObject(paused);
      await expect(runtime.rollback(first)).rejects.toMatchObject(paused);
      await expect(runtime.residentRunners()).rejects.toMatchObject(paused);
      expect(() => runtime.connect({ port: 80 })).toThrow(expect.objectContaining(paused));
      await expect(runner.exec('1')).rejects.toMatchObject(paused);
      await expect(program.writeStdin('x')).rejects.toMatchObject(paused);
      await Promise.all([runtime.resume(), runtime.resume()]);
      await runtime.resume();
      expect(await evaluate(runner, '1')).toBe('1');
      await program.closeStdin();
      expect(await program.wait()).toBe(0);
      await first.delete();
    }));

  test('the last of concurrent pause() and resume() calls decides the state', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec('globalThis.n = 1');
      const first = await runtime.pause();
      const resumed = runtime.resume();
      const [second, same] = await Promise.all([runtime.pause(), runtime.pause(), resumed]);
      expect([runtime.state, second === same, second.id === first.id]).toEqual(['paused', true, false]);
      await expect(runner.exec('1')).rejects.toMatchObject(paused);
      const steps = [runtime.resume(), runtime.pause(), runtime.resume()] as const;
      const [, third] = await Promise.all(steps);
      expect([runtime.state, await evaluate(runner, 'n++')]).toEqual(['running', '1']);
      for (const snapshot of [first, second, third]) await snapshot.delete();
      const fourth = await runtime.pause();
      await fourth.delete();
      // The resumption fails, and the runtime stays paused.
      const resuming = expect(runtime.resume()).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_NOT_FOUND' });
      expect(await runtime.pause()).toBe(fourth);
      await resuming;
      expect(runtime.state).toBe('paused');
    }));

  test('programs that are ended during the pause stay ended', () =>
    withRuntime(mode, {}, async (runtime) => {
      const [kept, ended] = [await runtime.createResidentRunner(), await runtime.createResidentRunner()];
      const controller = new AbortController();
      const running = runtime.exec('setInterval(() => {}, 1_000)', { signal: controller.signal });
      await until(async () => (await runtime.processes()).length === 3);
      const snapshot = await runtime.pause();
      await ended.dispose();
      controller.abort('enough');
      await expect(running).rejects.toBe('enough');
      await runtime.resume();
      await until(async () => (await runtime.processes()).length === 1);
      expect((await runtime.residentRunners()).map(({ pid }) => pid)).toEqual([kept.pid]);
      await snapshot.delete();
    }));

  test('dispose() of a paused runtime ends its programs and keeps its snapshot', () =>
    withMode(mode, async ({ create }) => {
      const runtime = await create();
      const runner = await runtime.createResidentRunner();
      await runner.exec('globalThis.n = 42');
      const other = await runtime.clone();
      const running = runtime.exec('setInterval(() => {}, 1_000)');
      const evaluation = runner.exec('await new Promise((r) => setTimeout(r, 60_000))');
      await until(async () => (await runtime.processes()).length === 2);
      const snapshot = await runtime.pause();
      await runtime.dispose();
      const disposed = { exitCode: 137, error: { code: 'ERR_RUNTIME_DISPOSED' } };
      expect(await running).toMatchObject(disposed);
      expect(await evaluation).toMatchObject(disposed);
      expect(runtime.state).toBe('disposed');
      await expect(runtime.resume()).rejects.toMatchObject({ code: 'ERR_RUNTIME_DISPOSED' });
      const copy = await NodeRuntime.create({ snapshot });
      expect((await copy.residentRunners()).length).toBe(1);
      await snapshot.delete();
      await copy.dispose();
      await other.dispose();
    }));

  test('the snapshot of a pause can be restored in another sidecar', () =>
    withMode(mode, async ({ create }) => {
      const runtime = await create();
      const runner = await runtime.createResidentRunner();
      await runner.exec('globalThis.n = 42; setInterval(() => n++, 1_000_000).unref()');
      const { id } = await runtime.pause();
      await runtime.dispose();
      const elsewhere = await Sidecar.spawn();
      try {
        const copy = await NodeRuntime.create({ snapshot: id, sidecar: elsewhere });
        expect(await evaluate(await runnerOf(copy), 'n')).toBe('42');
        await elsewhere.snapshots.delete(id);
      } finally {
        await elsewhere.dispose();
      }
    }));

  test('a pause ends connections and pending waits for listeners', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`const net = await import('node:net');
        globalThis.server = net.createServer((socket) => socket.unref().resume());
        await new Promise((resolve) => server.listen(3000, resolve)); server.unref();`);
      const stream = runtime.connect({ port: 3000 });
      await new Promise((resolve) => stream.once('connect', resolve));
      const closed = new Promise<string | undefined>((resolve) => {
        stream.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
        stream.once('close', () => resolve(undefined));
      });
      const waiting = runtime.waitForListener({ port: 4000 });
      waiting.catch(() => {});
      const snapshot = await runtime.pause();
      expect(await closed).toBe('ERR_RUNTIME_PAUSED');
      await expect(waiting).rejects.toMatchObject(paused);
      await runtime.resume();
      const again = runtime.connect({ port: 3000 });
      await new Promise((resolve) => again.once('connect', resolve));
      again.destroy();
      await snapshot.delete();
    }));

  test('writes to a connection right after the pause fail with ERR_RUNTIME_PAUSED', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`const net = await import('node:net');
        globalThis.server = net.createServer((socket) => socket.unref().resume());
        await new Promise((resolve) => server.listen(3000, resolve)); server.unref();`);
      const streams = [runtime.connect({ port: 3000 }), runtime.connect({ port: 3000 }), runtime.connect({ port: 3000 })];
      const [written, ended, left] = streams as [GuestStream, GuestStream, GuestStream];
      await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('connect', resolve))));
      const ends = streams.map((stream) => {
        const code = new Promise((resolve) => stream.once('error', (error: NodeJS.ErrnoException) => resolve(error.code)));
        return Promise.race([code, new Promise((resolve) => stream.once('close', () => resolve(undefined)))]);
      });
      const snapshot = await runtime.pause();
      written.write('x');
      ended.end();
      left.destroy();
      // The destroyed stream may have received the error earlier.
      expect((await Promise.all(ends)).slice(0, 2)).toEqual(['ERR_RUNTIME_PAUSED', 'ERR_RUNTIME_PAUSED']);
      await runtime.resume();
      await snapshot.delete();
    }));

  test('streams of files and watches end with the reason and never read files that are opened later', () =>
    withRuntime(mode, {}, async (runtime) => {
      for (const name of ['a', 'b']) await runtime.writeFile(`/tmp/${name}`, name.repeat(1 << 20));
      const before = [runtime.createReadStream('/tmp/a'), runtime.createReadStream('/tmp/a')];
      const readers = before.map((stream) => stream.iterator());
      for (const reader of readers) expect(String((await reader.next()).value)).toMatch(/^a+$/);
      const [one, other] = [runtime.watch('/tmp'), runtime.watch('/tmp')];
      const first = one.next();
      first.catch(() => {});
      const change = other.next();
      await runtime.writeFile('/tmp/c', '');
      expect(await change).toMatchObject({ value: { path: '/tmp/c' } });
      const snapshot = await runtime.pause();
      await runtime.resume();
      await first; // the change before the pause
      const after = [runtime.createReadStream('/tmp/b'), runtime.createReadStream('/tmp/b')];
      const texts = Promise.all(after.map(async (stream) => new Set((await stream.toArray()).join('')).size));
      for (const reader of readers) await expect(rest(reader)).rejects.toMatchObject(paused);
      expect(await texts).toEqual([1, 1]);
      await expect(rest(one)).rejects.toMatchObject(paused);
      await expect(rest(other)).rejects.toMatchObject(paused);
      const again = runtime.watch('/tmp');
      const ended = again.next();
      // The watch may end before the reply to the rollback arrives.
      ended.catch(() => {});
      await runtime.rollback(snapshot);
      await expect(ended).rejects.toMatchObject({ code: 'ERR_ROLLED_BACK' });
      await snapshot.delete();
    }));

  test('a runtime that does not quiesce stays running', () =>
    withRuntime(mode, { tenant: 'not quiet' }, async (runtime) => {
      const endless = runtime.exec('while (true);', { timeout: 3_000 });
      await until(async () => (await runtime.processes()).length === 1);
      await expect(runtime.pause({ timeoutMs: 50 })).rejects.toMatchObject({ code: 'ERR_NOT_QUIET' });
      expect(runtime.state).toBe('running');
      expect((await runtime.exec('console.log(1)')).stdout).toBe('1\n');
      expect(await endless).toMatchObject({ exitCode: 124 });
      const snapshot = await runtime.pause();
      await runtime.resume();
      await snapshot.delete();
    }));
});
