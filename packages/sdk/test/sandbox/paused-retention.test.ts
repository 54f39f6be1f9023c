// Tests the snapshots of paused runtimes in the store's folder: which snapshots another sidecar may
// evict, and when.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NodeRuntime, RuntimePool, Sidecar } from '../../src/index.js';
import { until } from './snapshot-helpers.js';

const idle = { afterMs: 20, action: 'pause' } as const;
const tenant = 'paused';
const full = { code: 'ERR_RESOURCE_EXHAUSTED' };

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'coldframe-paused-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const files = () => readdirSync(directory).filter((name) => name.endsWith('.snapshot'));
const untilPaused = (runtime: NodeRuntime) => until(() => runtime.state === 'paused' && files().length === 1);

/**
 * Runs `work` with a second sidecar on the folder. The folder has space only for the snapshot of
 * the paused runtime. `write` imports a snapshot through the second sidecar.
 */
async function withFullFolder(work: (write: () => Promise<unknown>, other: Sidecar) => Promise<void>): Promise<void> {
  await using large = await Sidecar.spawn({ snapshots: { directory } });
  await using runtime = await NodeRuntime.create({ sidecar: large });
  await runtime.writeFile('/workspace/file', Buffer.alloc(1 << 20, 1));
  const snapshot = await runtime.snapshot();
  await snapshot.export(join(directory, 'exported'));
  // The limit is larger than the imported snapshot, and larger than the snapshot of the paused
  // runtime. The sum of both sizes exceeds the limit.
  await using other = await Sidecar.spawn({ snapshots: { directory, maxBytes: 1_300_000 } });
  await work(() => other.snapshots.import(join(directory, 'exported')), other);
}

const MODES = [
  {
    name: 'shared',
    open: () => Sidecar.spawn({ snapshots: { directory } }),
    kill: async (sidecar: Sidecar, failing: () => Promise<unknown>) => {
      process.kill(sidecar.pid, 'SIGKILL');
      await expect(failing()).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED' });
    },
  },
  {
    name: 'embedded',
    open: () => Sidecar.embedded({ snapshots: { directory } }),
    kill: (sidecar: Sidecar) => sidecar.dispose(),
  },
];

/** Makes a paused runtime whose snapshot does not fit beside the imported snapshot. */
async function pausedRuntime(sidecar: Sidecar): Promise<NodeRuntime> {
  const runtime = await NodeRuntime.create({ sidecar, idle, tenant });
  await runtime.writeFile('/workspace/kept', Buffer.alloc(600_000, 2));
  await untilPaused(runtime);
  return runtime;
}

describe.each(MODES)('$name', (mode) => {
  test('keeps the snapshot of an idle policy until the sidecar has ended, then evicts it', () =>
    withFullFolder(async (write, other) => {
      const sidecar = await mode.open();
      const runtime = await pausedRuntime(sidecar);
      const [name] = files();
      await expect(write()).rejects.toMatchObject(full);
      expect((await runtime.readFile('/workspace/kept')).byteLength).toBe(600_000);
      await until(() => files().length === 1 && files()[0] !== name);
      await expect(write()).rejects.toMatchObject(full);
      await mode.kill(sidecar, () => runtime.exec('1'));
      expect(await other.snapshots.list({ tenant })).toHaveLength(1);
      await write();
      expect(await other.snapshots.list({ tenant })).toHaveLength(0);
      await runtime.dispose();
      await sidecar.dispose();
    }));

  test('keeps the snapshot of a pool slot until the sidecar has ended, then evicts it', () =>
    withFullFolder(async (write) => {
      const sidecar = await mode.open();
      const prepare = (runtime: NodeRuntime) => runtime.writeFile('/workspace/kept', Buffer.alloc(600_000, 2));
      const pool = new RuntimePool({ sidecar, size: 1, tenant, prepare, min: 0, idleTimeoutMs: 3_000 });
      const readSlot = () => pool.withRuntime(async (runtime) => (await runtime.readFile('/workspace/kept')).byteLength);
      expect(await readSlot()).toBe(600_000);
      await until(() => pool.stats().paused === 1);
      await expect(write()).rejects.toMatchObject(full);
      await mode.kill(sidecar, readSlot);
      await write();
      await pool.dispose();
      await sidecar.dispose();
    }));

  test('keeps the snapshot of pause() after the sidecar has ended, also if the policy paused first', () =>
    withFullFolder(async (write, other) => {
      const sidecar = await mode.open();
      const runtime = await pausedRuntime(sidecar);
      const [name] = files();
      const snapshot = await runtime.pause();
      expect(files()).toEqual([name]);
      expect(name).toContain(snapshot.id);
      expect(snapshot).toMatchObject({ tenant, stored: 'disk' });
      await mode.kill(sidecar, () => sidecar.ping());
      await expect(write()).rejects.toMatchObject(full);
      await using again = await NodeRuntime.create({ sidecar: other, snapshot: snapshot.id, tenant });
      expect((await again.readFile('/workspace/kept')).byteLength).toBe(600_000);
      await other.snapshots.delete(snapshot.id, { tenant });
      await write();
      await runtime.dispose();
      await sidecar.dispose();
    }));

  test('leaves the runtime with its policy when pause() fails', async () => {
    const sidecar = await mode.open();
    const runtime = await pausedRuntime(sidecar);
    const snapshots = () => sidecar.snapshots.list({ tenant });
    const [before] = await snapshots();
    await before?.export(join(directory, 'aside'));
    await before?.delete();
    await expect(runtime.pause()).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_NOT_FOUND' });
    await expect(runtime.readFile('/workspace/kept')).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_NOT_FOUND' });
    await sidecar.snapshots.import(join(directory, 'aside'), { tenant });
    expect((await runtime.readFile('/workspace/kept')).byteLength).toBe(600_000);
    await untilPaused(runtime);
    await runtime.dispose();
    expect(await snapshots()).toHaveLength(0);
    await sidecar.dispose();
  });
});
