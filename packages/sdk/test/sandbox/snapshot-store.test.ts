// Tests the store of snapshots: in memory and on disk, by tenant, in exported files, and after a
// killed sidecar.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NodeRuntime, Sidecar } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';
import { evaluate, runnerOf, usePrivateStoreFolder } from './snapshot-helpers.js';

const folder = usePrivateStoreFolder();
const notFound = { code: 'ERR_SNAPSHOT_NOT_FOUND' };

describe.each(MODES)('$name', (mode) => {
  test('lists, finds and deletes snapshots, which outlive their runtime', () =>
    withMode(mode, async ({ create }) => {
      const runtime = await create({ tenant: `list ${mode.name}` });
      const other = await runtime.clone();
      const first = await runtime.snapshot({ name: 'a' });
      // The delay makes the times of the snapshots differ in milliseconds.
      await new Promise((resolve) => setTimeout(resolve, 5));
      const second = await runtime.snapshot({ name: 'a', labels: { at: '2' } });
      await runtime.dispose();
      const { snapshots } = other;
      const list = await snapshots.list();
      expect(list.map(({ id }) => id)).toEqual([second.id, first.id]);
      expect(list.damaged).toEqual([]);
      expect(list[0]).toMatchObject({ name: 'a', labels: { at: '2' }, stored: 'memory', size: second.size });
      expect((await snapshots.get('a')).id).toBe(second.id);
      await snapshots.delete(second.id);
      expect((await snapshots.get('a')).id).toBe(first.id);
      const copy = await NodeRuntime.create({ snapshot: first });
      await first.delete();
      await expect(first.delete()).rejects.toMatchObject(notFound);
      await expect(snapshots.get('a')).rejects.toMatchObject({ ...notFound, snapshot: 'a' });
      await expect(snapshots.delete(second.id)).rejects.toMatchObject(notFound);
      await expect(NodeRuntime.create({ snapshot: second })).rejects.toMatchObject({ ...notFound, snapshot: second.id });
      expect(await snapshots.list()).toHaveLength(0);
      // A runtime that was restored from a deleted snapshot still works.
      expect((await copy.exec('console.log(1)')).stdout).toBe('1\n');
      await copy.dispose();
      await other.dispose();
    }));

  test('a tenant sees only its own snapshots', () =>
    withMode(mode, async ({ create }) => {
      const [ann, bob] = [await create({ tenant: 'ann' }), await create({ tenant: 'bob' })];
      const copy = await ann.clone();
      const snapshot = await ann.snapshot({ name: 'mine', store: 'disk' });
      await expect(bob.rollback(snapshot)).rejects.toMatchObject(notFound);
      await expect(bob.snapshots.get(snapshot.id)).rejects.toMatchObject(notFound);
      await expect(bob.snapshots.get('mine')).rejects.toMatchObject(notFound);
      await expect(bob.snapshots.delete(snapshot.id)).rejects.toMatchObject(notFound);
      await expect(bob.snapshots.export(snapshot.id, join(folder.path(), 'stolen'))).rejects.toMatchObject(notFound);
      await expect(NodeRuntime.create({ snapshot, tenant: 'bob' })).rejects.toMatchObject(notFound);
      expect((await bob.snapshots.list()).map(({ id }) => id)).not.toContain(snapshot.id);
      expect(copy.state).toBe('running');
      expect((await copy.snapshots.get('mine')).id).toBe(snapshot.id);
      await snapshot.delete();
      await Promise.all([ann, bob, copy].map((runtime) => runtime.dispose()));
    }));

  test('snapshots on disk outlive the sidecar with programs, files and memory', () =>
    withMode(mode, async ({ create }) => {
      const runtime = await create();
      const runner = await runtime.createResidentRunner();
      await runner.exec('globalThis.n = 40');
      await runtime.writeFile('/workspace/a', 'kept');
      const early = await runtime.snapshot({ store: 'disk', name: 'early' });
      expect(early.stored).toBe('both');
      await runner.exec('n = 41');
      const late = await runtime.snapshot();
      await late.persist();
      expect(late.stored).toBe('both');
      const lost = await runtime.snapshot();
      await runtime.dispose();
      const second = await Sidecar.spawn();
      try {
        for (const [snapshot, n] of [
          [early.id, '40'],
          [late.id, '41'],
        ] as const) {
          const copy = await NodeRuntime.create({ sidecar: second, snapshot });
          expect(await evaluate(await runnerOf(copy), 'n')).toBe(n);
          expect(Buffer.from(await copy.readFile('/workspace/a')).toString()).toBe('kept');
          await copy.dispose();
        }
        expect(await second.snapshots.get(early.id)).toMatchObject({ name: 'early', size: early.size });
        await expect(NodeRuntime.create({ sidecar: second, snapshot: lost.id })).rejects.toMatchObject(notFound);
        await second.snapshots.delete(early.id);
        await second.snapshots.delete(late.id);
      } finally {
        await second.dispose();
      }
    }));

  test('imports an exported file and refuses a modified file', () =>
    withRuntime(mode, { tenant: 'exporter' }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec('globalThis.n = 42');
      const snapshot = await runtime.snapshot({ name: 'exported', labels: { a: 'b' } });
      const path = join(folder.path(), `exported-${mode.name}`);
      await snapshot.export(path);
      const digest = await snapshot.digest();
      expect(digest).toMatch(/^[0-9a-f]{64}$/);
      const other = await Sidecar.embedded({ snapshots: { directory: join(folder.path(), `elsewhere-${mode.name}`) } });
      try {
        const imported = await other.snapshots.import(path, { tenant: 'importer' });
        expect(imported).toMatchObject({ name: 'exported', labels: { a: 'b' }, tenant: 'importer' });
        expect(await imported.digest()).toBe(digest);
        const copy = await NodeRuntime.create({ snapshot: imported, sidecar: other });
        expect(await evaluate(await runnerOf(copy), 'n')).toBe('42');
        await copy.dispose();
        await imported.delete();
        const bytes = readFileSync(path);
        for (const at of [100, bytes.length >> 1, bytes.length - 1]) {
          const changed = Buffer.from(bytes);
          changed[at] = (changed[at] ?? 0) ^ 1;
          writeFileSync(path, changed);
          await expect(other.snapshots.import(path)).rejects.toMatchObject({
            code: expect.stringMatching(/^ERR_SNAPSHOT_(DAMAGED|FOREIGN)$/),
          });
        }
        writeFileSync(path, bytes.subarray(0, 5_000));
        await expect(other.snapshots.import(path)).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_DAMAGED' });
        await expect(other.snapshots.import(join(folder.path(), 'none'))).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_FILE' });
        expect(await other.snapshots.list({ tenant: 'importer' })).toHaveLength(0);
      } finally {
        await other.dispose();
      }
    }));
});

test('snapshots on disk survive a killed sidecar', async () => {
  const sidecar = await Sidecar.spawn();
  const runtime = await NodeRuntime.create({ sidecar });
  const runner = await runtime.createResidentRunner();
  await runner.exec('globalThis.n = 42');
  const kept = await runtime.snapshot({ store: 'disk' });
  const lost = await runtime.snapshot();
  process.kill(sidecar.pid, 'SIGKILL');
  await expect(runner.exec('1')).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED' });
  await expect(kept.digest()).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED' });
  // The sidecar of the handle has exited, so the runtime starts its own sidecar.
  const copy = await NodeRuntime.create({ snapshot: kept });
  expect(await evaluate(await runnerOf(copy), 'n')).toBe('42');
  await expect(NodeRuntime.create({ snapshot: lost })).rejects.toMatchObject({
    code: 'ERR_SNAPSHOT_NOT_FOUND',
    message: expect.stringContaining('sidecar that has ended'),
  });
  await copy.snapshots.delete(kept.id);
  await copy.dispose();
});

test('the error of a lost snapshot names the store of the snapshot: memory, or another folder', async () => {
  const directory = join(folder.path(), 'of another');
  const open = () => Sidecar.spawn({ snapshots: { directory } });
  const [first, second, plain] = [await open(), await open(), await Sidecar.spawn()];
  try {
    const runtime = await NodeRuntime.create({ sidecar: first });
    const [written, lost] = [await runtime.snapshot({ store: 'disk' }), await runtime.snapshot()];
    await first.dispose();
    const message = (text: string) => ({ ...notFound, message: expect.stringContaining(text) });
    await expect(NodeRuntime.create({ snapshot: lost })).rejects.toMatchObject(message("take it with { store: 'disk' }"));
    for (const sidecar of [undefined, plain]) {
      const making = NodeRuntime.create({ snapshot: written, ...(sidecar && { sidecar }) });
      await expect(making).rejects.toMatchObject(message('this folder is another (snapshots.directory)'));
    }
    const copy = await NodeRuntime.create({ snapshot: written, sidecar: second });
    await expect(copy.rollback(lost)).rejects.toMatchObject(message('was in the memory'));
    await copy.rollback(written);
  } finally {
    await Promise.all([first, second, plain].map((sidecar) => sidecar.dispose()));
  }
});

test('refuses a snapshot when the memory or the folder is full', async () => {
  const directory = join(folder.path(), 'small');
  const sidecar = await Sidecar.embedded({ snapshots: { directory, memoryBytes: 100_000, maxBytes: 100_000 } });
  try {
    const runtime = await NodeRuntime.create({ sidecar });
    await runtime.writeFile('/workspace/a', new Uint8Array(1_000_000).fill(1));
    await expect(runtime.snapshot()).rejects.toMatchObject({ code: 'ERR_RESOURCE_EXHAUSTED' });
    await expect(runtime.snapshot({ store: 'disk' })).rejects.toMatchObject({ code: 'ERR_RESOURCE_EXHAUSTED' });
    expect((await runtime.exec('console.log(1)')).stdout).toBe('1\n');
    expect(await sidecar.snapshots.list()).toHaveLength(0);
  } finally {
    await sidecar.dispose();
  }
});

test('a full memory evicts the snapshots of live runtimes last', async () => {
  const sidecar = await Sidecar.embedded({ snapshots: { directory: join(folder.path(), 'live'), memoryBytes: 5_000_000 } });
  try {
    const runtime = await NodeRuntime.create({ sidecar });
    await runtime.writeFile('/workspace/a', new Uint8Array(1_000_000).fill(1));
    const template = await runtime.snapshot();
    const copy = await NodeRuntime.create({ sidecar, snapshot: template });
    const imported = [];
    for (let round = 0; round < 6; round++) imported.push((await runtime.snapshot()).id);
    const kept = (await sidecar.snapshots.list()).map(({ id }) => id);
    expect(kept).toContain(template.id);
    expect(kept).not.toContain(imported[0]);
    await copy.dispose();
    for (let round = 0; round < 6; round++) await runtime.snapshot();
    await expect(sidecar.snapshots.get(template.id)).rejects.toMatchObject(notFound);
  } finally {
    await sidecar.dispose();
  }
});

test('lists damaged files and skips them', async () => {
  const directory = join(folder.path(), 'damaged');
  const open = () => Sidecar.embedded({ snapshots: { directory } });
  let sidecar = await open();
  const runtime = await NodeRuntime.create({ sidecar });
  const [intact, damaged] = [await runtime.snapshot({ store: 'disk' }), await runtime.snapshot({ store: 'disk' })];
  await sidecar.dispose();
  const files = readdirSync(directory, { recursive: true }).map(String);
  const file = join(directory, files.find((name) => name.includes(damaged.id)) ?? 'none');
  writeFileSync(`${file}.other`, readFileSync(file).subarray(0, 1_000));
  const { renameSync } = await import('node:fs');
  renameSync(`${file}.other`, file);
  sidecar = await open();
  try {
    const list = await sidecar.snapshots.list();
    expect(list.map(({ id }) => id)).toEqual([intact.id]);
    expect(list.damaged).toEqual([{ path: file, reason: expect.any(String) }]);
    await expect(NodeRuntime.create({ sidecar, snapshot: damaged.id })).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_DAMAGED' });
    const copy = await NodeRuntime.create({ sidecar, snapshot: intact.id });
    expect((await copy.exec('console.log(1)')).stdout).toBe('1\n');
  } finally {
    await sidecar.dispose();
  }
});
