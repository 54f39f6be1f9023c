// Tests forged snapshots: wrong labels, and modified files with correct digests. Also tests lists
// of snapshots that are longer than a frame. The sidecar must keep working for every tenant.

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NodeRuntime, Sidecar } from '../../src/index.js';
import { MODES, withMode } from './modes.js';
import { usePrivateStoreFolder } from './snapshot-helpers.js';

const folder = usePrivateStoreFolder();
const damaged = { code: 'ERR_SNAPSHOT_DAMAGED' };

const page = (length: number) => Math.ceil(length / 4_096) * 4_096;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();

// Replaces `from` with `to`, of equal length, in a file's info and state, except after a slash.
// Recomputes the digests.
function modify(path: string, from: string, to: string): void {
  const bytes = readFileSync(path);
  const head = page(96 + 48 * bytes.readUInt32LE(48) + bytes.readUInt32LE(52));
  const end = head + Number(bytes.readBigUInt64LE(56));
  let count = 0;
  for (let at = bytes.indexOf(from); at >= 0 && at < end; at = bytes.indexOf(from, at + 1)) {
    if (bytes[at - 1] !== 0x2f) count += Math.sign(bytes.write(to, at));
  }
  expect(count).toBeGreaterThan(0);
  sha256(bytes.subarray(head, end)).copy(bytes, 64);
  bytes.fill(0, 16, 48);
  sha256(bytes.subarray(0, head)).copy(bytes, 16);
  writeFileSync(path, bytes);
}

describe.each(MODES)('$name', (mode) => {
  test('refuses the label `__proto__` from a caller and from a file', () =>
    withMode(mode, async ({ create }) => {
      const [runtime, other] = [await create({ tenant: `labels ${mode.name}` }), await create({ tenant: 'other' })];
      const labels = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
      await expect(runtime.snapshot({ labels })).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option: 'labels' });
      const snapshot = await runtime.snapshot({ labels: { __prot0__: 'x' }, store: 'disk' });
      const path = join(folder.path(), `labels-${mode.name}`);
      await snapshot.export(path);
      modify(path, '__prot0__', '__proto__');
      await expect(other.snapshots.import(path)).rejects.toMatchObject(damaged);
      const store = join(folder.path(), 'coldframe/snapshots');
      const own = readdirSync(store).find((name) => name.includes(snapshot.id)) as string;
      modify(join(store, own), '__prot0__', '__proto__');
      expect((await runtime.snapshots.list()).damaged).toMatchObject([{ reason: expect.stringContaining('labels') }]);
      expect((await other.exec('console.log(1)')).stdout).toBe('1\n');
      await snapshot.delete();
      await Promise.all([runtime.dispose(), other.dispose()]);
    }));

  test('mounts at the path of the options, not at the path of a modified file', () =>
    withMode(mode, async ({ create }) => {
      const hostPath = join(folder.path(), `mounted-${mode.name}`);
      mkdirSync(hostPath);
      const mounts = [{ guestPath: '/mmaa', hostPath }];
      const runtime = await create({ mounts });
      const path = join(folder.path(), `mount-${mode.name}`);
      await (await runtime.snapshot()).export(path);
      expect((await runtime.snapshots.import(path, { tenant: 'taker' })).tenant).toBe('taker');
      modify(path, 'mmaa', 'qqbb');
      await expect(runtime.snapshots.import(path, { tenant: 'thief' })).rejects.toMatchObject(damaged);
      await runtime.dispose();
    }));
});

test('lists snapshots whose list is longer than a frame', async () => {
  const sidecar = await Sidecar.spawn();
  try {
    const runtime = await NodeRuntime.create({ sidecar });
    const name = (at: number) => `${at}`.padEnd(1_000, 'n');
    const labels = Object.fromEntries(Array.from({ length: 64 }, (_, at) => [name(at), '\u{1F600}'.repeat(1_000)]));
    const ids: string[] = [];
    for (let at = 0; at < 110; at++) ids.push((await runtime.snapshot({ labels })).id);
    const list = await sidecar.snapshots.list();
    expect(list.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    const times = list.map(({ createdAt }) => createdAt.getTime());
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(list.every((snapshot) => Object.keys(snapshot.labels).length === 64)).toBe(true);
  } finally {
    await sidecar.dispose();
  }
});
