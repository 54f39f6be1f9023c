// Kills the server at random times under load, and starts it again. Sandboxes whose pause was
// acknowledged resume with their files. Sandboxes that ran have ended, with a reason. No sandbox is
// half there.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Sandbox, SandboxNotFoundError } from 'e2b';
import { expect, test } from 'vitest';
import { repetitions } from '../../../sdk/test/repetitions.ts';
import { KEY } from './harness.ts';

const PROGRAM = fileURLToPath(new URL('server-process.mjs', import.meta.url));
const WORKERS = 3;

interface Started {
  child: ChildProcess;
  connection: { apiKey: string; apiUrl: string; sandboxUrl: string };
}

async function start(directory: string): Promise<Started> {
  const child = spawn(process.execPath, [PROGRAM, directory, KEY], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  const url = `http://127.0.0.1:${Number(String(line))}`;
  return { child, connection: { apiKey: KEY, apiUrl: url, sandboxUrl: url } };
}

async function kill({ child }: Started): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

test('paused sandboxes resume and running sandboxes have ended after a kill at any time', { timeout: 600_000 }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coldframe-crash-'));
  try {
    for (let round = 0; round < repetitions(4, 30); round++) {
      const first = await start(directory);
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
      await kill(first);
      await Promise.all(workers);

      const second = await start(directory);
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
      await kill(second);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
});
