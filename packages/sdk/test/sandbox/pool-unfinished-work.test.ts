// Tests unfinished work of a use whose slot is released. The work must not affect the next use of
// the slot.

import { describe, expect, test } from 'vitest';
import { type GuestProcess, NodeRuntime, type ResidentRunner, RuntimePool, Sidecar } from '../../src/index.js';
import { usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

const MODES: { name: string; open(): Promise<Sidecar> }[] = [
  { name: 'shared', open: () => Sidecar.spawn() },
  { name: 'embedded', open: () => Sidecar.embedded() },
  { name: 'embedded inline', open: () => Sidecar.embedded({ inlineBudgetMs: 5 }) },
];

// Prepares a template: starts a runner, and a program that prints the stdin that it has received.
const prepare = async (runtime: NodeRuntime): Promise<void> => {
  await (await runtime.createResidentRunner()).exec('globalThis.count = 1');
  await runtime.spawn('let input = ""; process.stdin.on("data", (data) => { input += data; console.log(input); });');
};

async function withPool(
  mode: (typeof MODES)[number],
  work: (pool: RuntimePool, sidecar: Sidecar) => Promise<void>,
): Promise<void> {
  await using sidecar = await mode.open();
  await using pool = new RuntimePool({ size: 1, min: 1, prepare, sidecar });
  await work(pool, sidecar);
}

// Releases a slot by a failing use while `work` runs. Returns the files that the next use finds
// after `work` has ended.
async function foundAfter(pool: RuntimePool, work: (runtime: NodeRuntime) => Promise<unknown>): Promise<string[]> {
  let left: Promise<unknown> | undefined;
  const use = pool.withRuntime((runtime) => {
    left = work(runtime).catch(() => {});
    throw new Error('failed');
  });
  await expect(use).rejects.toThrow('failed');
  return pool.withRuntime(async (runtime) => {
    await runtime.writeFile('/workspace/mine', '');
    await left;
    return runtime.readDir('/workspace');
  });
}

async function runnerOf(runtime: NodeRuntime): Promise<ResidentRunner> {
  return (await runtime.residentRunners())[0] as ResidentRunner;
}

describe.each(MODES)('$name', (mode) => {
  test('the next use does not see the rest of a large file', () =>
    withPool(mode, async (pool) => {
      const write = (runtime: NodeRuntime) => runtime.writeFile('/workspace/secret', Buffer.alloc(40_000_000, 65));
      expect(await foundAfter(pool, write)).toEqual(['mine']);
      expect(pool.stats()).toMatchObject({ replaced: 1, recycled: 0 });
    }));

  test('the next use does not see an archive whose source is late', () =>
    withPool(mode, async (pool) => {
      const archive = async (runtime: NodeRuntime): Promise<Buffer[]> => runtime.exportTar('/workspace').toArray();
      const chunks = await pool.withRuntime(async (runtime) => {
        await runtime.writeFile('/workspace/secret', 'secret');
        return archive(runtime);
      });
      const late = async function* () {
        while (pool.stats().busy === 1) await new Promise(setImmediate);
        while (pool.stats().busy === 0) await new Promise(setImmediate);
        yield* chunks;
      };
      expect(await foundAfter(pool, (runtime) => runtime.importTar(late()))).toEqual(['mine']);
    }));

  test('the next use is not rolled back by a late rollback from disk', async () => {
    await using other = await mode.open();
    await using checkpoint = await NodeRuntime.create({ sidecar: other });
    await (await checkpoint.createResidentRunner()).exec('globalThis.large = new Uint8Array(40e6).fill(7)');
    await checkpoint.writeFile('/workspace/secret', 'secret');
    const { id } = await checkpoint.snapshot({ store: 'disk' });
    await withPool(mode, async (pool, sidecar) => {
      const snapshot = await sidecar.snapshots.get(id);
      expect(await foundAfter(pool, (runtime) => runtime.rollback(snapshot))).toEqual(['mine']);
      await snapshot.delete();
    });
  });

  test('the next use does not see changes through open streams, and watches end', () =>
    withPool(mode, async (pool) => {
      const { writing, closed, watch } = await pool.withRuntime((runtime) => {
        const writing = runtime.createWriteStream('/workspace/secret').on('error', () => {});
        const closed = new Promise((resolve) => writing.once('close', resolve));
        const watch = runtime.watch('/workspace');
        void watch.next().catch(() => {});
        return { writing, closed, watch };
      });
      const found = await pool.withRuntime(async (runtime) => {
        writing.end('secret');
        await closed;
        return runtime.readDir('/workspace');
      });
      expect(found).toEqual([]);
      await watch.return?.();
      const used = await pool.withRuntime(async (runtime) => {
        const stream = runtime.createWriteStream('/workspace/file');
        await new Promise<void>((resolve) => stream.end('all', resolve));
        return Buffer.concat(await runtime.createReadStream('/workspace/file').toArray()).toString();
      });
      expect(used).toBe('all');
      expect(pool.stats()).toMatchObject({ replaced: 1, errors: 0 });
    }));

  test('a slot with running programs is reused, and handles of the earlier use fail', () =>
    withPool(mode, async (pool) => {
      const kept = await pool.withRuntime(async (runtime) => {
        const runner = await runnerOf(runtime);
        const program = await runtime.spawn('setInterval(() => {}, 1000)');
        runtime.exec('setInterval(() => {}, 1000)').catch(() => {});
        runner.exec('globalThis.count++; await new Promise(() => setInterval(() => {}, 1000))').catch(() => {});
        expect(await runnerOf(runtime)).toBe(runner);
        return { runner, program };
      });
      const count = await pool.withRuntime(async (runtime) => {
        const program = await runtime.spawn('setInterval(() => {}, 1000)');
        expect(program.pid).toBe(kept.program.pid);
        const released = { code: 'ERR_POOL_RELEASED' };
        await expect(kept.program.kill('SIGKILL')).rejects.toMatchObject(released);
        await expect(kept.runner.exec('globalThis.count = "of the earlier use"')).rejects.toMatchObject(released);
        expect((await kept.program.result).error).toMatchObject({ code: 'ERR_ROLLED_BACK' });
        expect(program.exitCode).toBeUndefined();
        return (await (await runnerOf(runtime)).exec('console.log(count)')).stdout;
      });
      expect(count).toBe('1\n');
      expect(pool.stats()).toMatchObject({ created: 1, replaced: 0, errors: 0 });
    }));

  test('each use can attach to the programs of the template', () =>
    withPool(mode, async (pool) => {
      const readEcho = async (runtime: NodeRuntime): Promise<string> => {
        for (const entry of await runtime.processes()) {
          const program: GuestProcess | undefined = await entry.attach().catch(() => undefined);
          if (program === undefined) continue; // the runner, which cannot be attached to
          await program.writeStdin('secret ');
          for await (const chunk of program.stdout) return Buffer.from(chunk).toString();
        }
        return 'no program to attach to';
      };
      for (let use = 0; use < 3; use++) expect(await pool.withRuntime(readEcho)).toBe('secret \n');
    }));
});
