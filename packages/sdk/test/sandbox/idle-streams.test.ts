// Tests open watches and streams in a runtime with an idle policy. An open stream or watch keeps
// the runtime running only while the stream or watch can still deliver data.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { NodeRuntime, Sidecar } from '../../src/index.js';
import { sleep, until } from './processes.js';

const directory = mkdtempSync(join(tmpdir(), 'coldframe-idle-streams-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const MODES = [
  { name: 'shared', open: () => Sidecar.spawn({ snapshots: { directory } }) },
  { name: 'embedded', open: () => Sidecar.embedded({ snapshots: { directory } }) },
];

const untilPaused = (runtime: NodeRuntime) => until(() => runtime.state === 'paused', 10_000, 'the runtime is paused');

describe.each(MODES)('$name', (mode) => {
  const withIdleRuntime = async (work: (runtime: NodeRuntime) => Promise<void>): Promise<void> => {
    const sidecar = await mode.open();
    const errors: unknown[] = [];
    const idle = { afterMs: 50, action: 'pause', onError: (error: unknown) => errors.push(error) } as const;
    const runtime = await NodeRuntime.create({ sidecar, idle });
    try {
      await work(runtime);
      expect(errors).toEqual([]);
    } finally {
      await runtime.dispose();
      await sidecar.dispose();
    }
  };

  test('pauses after a rollback has ended a watch', () =>
    withIdleRuntime(async (runtime) => {
      const snapshot = await runtime.snapshot();
      const next = runtime.watch('/workspace').next();
      const failed = expect(next).rejects.toMatchObject({ code: 'ERR_ROLLED_BACK' });
      await runtime.rollback(snapshot);
      await failed;
      await untilPaused(runtime);
    }));

  test('pauses after a watch that is opened during a rollback has ended', () =>
    withIdleRuntime(async (runtime) => {
      const snapshot = await runtime.snapshot();
      const rollback = runtime.rollback(snapshot);
      const watch = runtime.watch('/workspace');
      const next = watch.next().catch((error) => error.code);
      await rollback;
      await runtime.writeFile('/workspace/file', '');
      expect(['ERR_ROLLED_BACK', '/workspace/file']).toContain(await next.then((result) => result.value?.path ?? result));
      await watch.return?.();
      await untilPaused(runtime);
    }));

  test('pauses although streams and watches from before a rollback or a pause are unread', () =>
    withIdleRuntime(async (runtime) => {
      await runtime.writeFile('/workspace/file', new Uint8Array(1 << 22));
      const opened = async () => {
        const watch = runtime.watch('/workspace');
        const read = runtime.createReadStream('/workspace/file');
        const written = runtime.createWriteStream('/workspace/other');
        await Promise.all([
          new Promise((resolve) => read.once('readable', resolve)),
          new Promise((resolve) => written.write('x', resolve)),
        ]);
        return { watch, read, written };
      };
      const first = await runtime.snapshot();
      const before = await opened();
      await runtime.rollback(first);
      await untilPaused(runtime);
      // The runtime may have been paused before the read, so the pause is a valid reason too.
      const ended = { code: expect.stringMatching(/^ERR_(ROLLED_BACK|RUNTIME_PAUSED)$/) };
      await expect(before.watch.next()).rejects.toMatchObject(ended);
      await expect(before.read.toArray()).rejects.toMatchObject(ended);
      await untilPaused(runtime);
      const again = await opened();
      const second = await runtime.pause();
      await runtime.resume();
      await untilPaused(runtime);
      await expect(again.read.toArray()).rejects.toMatchObject({ code: 'ERR_RUNTIME_PAUSED' });
      const last = await opened();
      await sleep(200);
      expect(runtime.state).toBe('running');
      await last.watch.return?.();
      last.read.destroy();
      await new Promise((resolve) => last.written.end(resolve));
      await untilPaused(runtime);
      await second.delete();
      for (const { written } of [before, again]) written.on('error', () => {}).destroy();
    }));
});
