// Snapshots that no caller of ours can have made: labels that are none, files that somebody has altered and given the right digests again, lists longer than a
// frame. Whatever is in them, the sidecar goes on for everybody.

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NodeRuntime, Sidecar } from '../../src/index.js';
import { MODES, withMode } from './modes.js';
import { inFolderOfItsOwn } from './snapshot-helpers.js';

const folder = inFolderOfItsOwn();
const damaged = { code: 'ERR_SNAPSHOT_DAMAGED' };

const page = (length: number) => Math.ceil(length / 4_096) * 4_096;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();

// Replaces `from` by `to`, of the same length, in a file's info and state, but for where a slash stands before it; every digest is right again.
function altered(path: string, from: string, to: string): void {
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
  test('a label that is no entry of a map is refused, from a caller and from a file', () =>
    withMode(mode, async ({ create }) => {
      const [runtime, other] = [await create({ tenant: `labels ${mode.name}` }), await create({ tenant: 'other' })];
      const labels = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
      await expect(runtime.snapshot({ labels })).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option: 'labels' });
      const snapshot = await runtime.snapshot({ labels: { __prot0__: 'x' }, store: 'disk' });
      const path = join(folder.path(), `labels-${mode.name}`);
      await snapshot.export(path);
      altered(path, '__prot0__', '__proto__');
      await expect(other.snapshots.import(path)).rejects.toMatchObject(damaged);
      const store = join(folder.path(), 'coldframe/snapshots');
      const own = readdirSync(store).find((name) => name.includes(snapshot.id)) as string;
      altered(join(store, own), '__prot0__', '__proto__');
      expect((await runtime.snapshots.list()).damaged).toMatchObject([{ reason: expect.stringContaining('labels') }]);
      expect((await other.exec('console.log(1)')).stdout).toBe('1\n');
      await snapshot.delete();
      await Promise.all([runtime.dispose(), other.dispose()]);
    }));

  test('a mount lies where its caller has said, whatever a file says', () =>
    withMode(mode, async ({ create }) => {
      const hostPath = join(folder.path(), `mounted-${mode.name}`);
      mkdirSync(hostPath);
      const mounts = [{ guestPath: '/mmaa', hostPath }];
      const runtime = await create({ mounts });
      const path = join(folder.path(), `mount-${mode.name}`);
      await (await runtime.snapshot()).export(path);
      expect((await runtime.snapshots.import(path, { tenant: 'taker' })).tenant).toBe('taker');
      altered(path, 'mmaa', 'qqbb');
      await expect(runtime.snapshots.import(path, { tenant: 'thief' })).rejects.toMatchObject(damaged);
      await runtime.dispose();
    }));
});

test('a list is longer than a frame', async () => {
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
