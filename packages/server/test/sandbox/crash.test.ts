// Kills the server at random times under load, and starts it again. Sandboxes whose pause was
// acknowledged resume with their files. Sandboxes that ran have ended, with a reason. No sandbox is
// half there.

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sandbox, SandboxNotFoundError } from 'e2b';
import { expect, test } from 'vitest';
import { repetitions } from '../../../sdk/test/repetitions.ts';
import { KEY, killProcess, startProcess } from './harness.ts';

const WORKERS = 3;

test('paused sandboxes resume and running sandboxes have ended after a kill at any time', { timeout: 600_000 }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coldframe-crash-'));
  try {
    for (let round = 0; round < repetitions(4, 30); round++) {
      const first = await startProcess(directory);
      const paused = new Map<string, string>();
      const unknown = new Set<string>();
      const running = new Set<string>();
      let isOver = false;
      const work = async (worker: number): Promise<void> => {
        for (let count = 0; !isOver; count++) {
          const sandbox = await Sandbox.create(first.connection);
          running.add(sandbox.sandboxId);
          const content = `${round} ${worker} ${count}`;
          await sandbox.files.write('content', content);
          if (count % 3 === 2) continue;
          running.delete(sandbox.sandboxId);
          // Until the response arrives, both results are right.
          unknown.add(sandbox.sandboxId);
          await sandbox.pause(count % 3 === 0 ? {} : { keepMemory: false });
          unknown.delete(sandbox.sandboxId);
          paused.set(sandbox.sandboxId, content);
        }
      };
      const workers = Array.from({ length: WORKERS }, (_, worker) => work(worker).catch(() => {}));
      await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 1_500));
      isOver = true;
      await killProcess(first);
      await Promise.all(workers);

      const second = await startProcess(directory);
      const listed = new Map<string, string>();
      for (const pages = Sandbox.list(second.connection); pages.hasNext; ) {
        for (const { sandboxId, state } of await pages.nextItems()) listed.set(sandboxId, state);
      }
      expect([...listed.values()].every((state) => state === 'paused')).toBe(true);
      for (const [id, content] of paused) {
        expect([id, listed.get(id)]).toEqual([id, 'paused']);
        const resumed = await Sandbox.connect(id, second.connection);
        expect(await resumed.files.read('content')).toBe(content);
        await resumed.kill();
      }
      for (const id of running) {
        expect([id, listed.has(id)]).toEqual([id, false]);
        const error = await Sandbox.connect(id, second.connection).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(SandboxNotFoundError);
        const reply = await fetch(`${second.connection.apiUrl}/sandboxes/${id}`, { headers: { 'x-api-key': KEY } });
        expect(((await reply.json()) as { message: string }).message).toContain('it ended when the server was restarted');
      }
      // A pause without a response has happened as a whole, or not at all.
      for (const id of unknown) if (listed.has(id)) await (await Sandbox.connect(id, second.connection)).kill();
      // Nothing is left of sandboxes without a record.
      expect(await readdir(join(directory, 'blobs'))).toEqual([]);
      const snapshots = await readdir(join(directory, 'snapshots'), { recursive: true }).catch(() => []);
      expect(snapshots.filter((name) => name.includes('snap-'))).toEqual([]);
      await killProcess(second);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
});
