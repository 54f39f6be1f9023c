// The wall around the sidecar's process. `crates/sidecar/tests` has the attempts of a stand-in for
// an escaped guest, and the systems that lack parts.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NodeRuntime, Sidecar, type Wall } from '../../src/index.js';
import { childrenOf } from './processes.js';

const NAMES = [
  'userNamespace',
  'mountNamespace',
  'ipcNamespace',
  'utsNamespace',
  'noNewPrivileges',
  'capabilities',
  'limits',
  'landlock',
  'notDumpable',
  'seccomp',
];

function statusOf(pid: number, field: string): string | undefined {
  return new RegExp(`^${field}:\\s*(\\S+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
}

function expectReport(walls: readonly Wall[]): void {
  expect(walls.map(({ name }) => name)).toEqual(NAMES);
  for (const { stands, reason } of walls) expect(typeof reason).toBe(stands ? 'undefined' : 'string');
  const always = walls.filter(({ name }) => name === 'seccomp' || name === 'capabilities' || name === 'noNewPrivileges');
  expect(always.every(({ stands }) => stands)).toBe(true);
}

test('a shared sidecar reports its wall, and the operating system confirms the report', async () => {
  await using sidecar = await Sidecar.spawn();
  expectReport(sidecar.walls);
  expect(['Seccomp', 'NoNewPrivs', 'CapEff', 'CapPrm'].map((field) => statusOf(sidecar.pid, field))).toEqual([
    '2',
    '1',
    '0000000000000000',
    '0000000000000000',
  ]);
  const runtime = await NodeRuntime.create({ sidecar });
  expect(runtime.walls).toEqual(sidecar.walls);
});

test('an owned sidecar reports its wall', async () => {
  await using runtime = await NodeRuntime.create();
  expectReport(runtime.walls);
});

test('the wall can be off, and embedded mode has none', async () => {
  await using open = await Sidecar.spawn({ walls: 'off' });
  expect(open.walls).toEqual([]);
  expect(statusOf(open.pid, 'Seccomp')).toBe('0');
  await using embedded = await Sidecar.embedded();
  expect(embedded.walls).toEqual([]);
  await expect(Sidecar.embedded({ walls: 'auto' } as object)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
  await expect(NodeRuntime.create({ sidecar: embedded, walls: 'auto' })).rejects.toMatchObject({
    code: 'ERR_INVALID_OPTION',
    option: 'walls',
  });
});

test('a required wall is complete, or refuses the start and leaves no process', async () => {
  const missing = await Sidecar.spawn().then(async (sidecar) => {
    await sidecar.dispose();
    return sidecar.walls.filter(({ stands }) => !stands).map(({ name }) => name);
  });
  const children = childrenOf();
  const required = { walls: 'required' } as const;
  if (missing.length === 0) {
    await (await Sidecar.spawn(required)).dispose();
    await (await NodeRuntime.create(required)).dispose();
  } else {
    await expect(Sidecar.spawn(required)).rejects.toMatchObject({ code: 'ERR_WALLS_MISSING', missing: missing.join(',') });
    await expect(Sidecar.spawn(required)).rejects.toThrow(missing[0]);
  }
  expect(childrenOf()).toEqual(children);
});

test('a runtime without a wall does not satisfy a required wall', async () => {
  await using first = await NodeRuntime.create({ walls: 'off' });
  const snapshot = await first.snapshot();
  await expect(NodeRuntime.create({ snapshot, walls: 'required' })).rejects.toMatchObject({
    code: 'ERR_WALLS_MISSING',
    missing: '',
  });
});

test.each(['auto', 'required'] as const)('the edge process reports its wall after its start, with `walls: %s`', async (walls) => {
  const isRefused = await NodeRuntime.create({ walls }).then(
    (runtime) => runtime.dispose().then(() => false),
    ({ code }) => code === 'ERR_WALLS_MISSING',
  );
  if (isRefused) return;
  await using runtime = await NodeRuntime.create({ walls, network: { allow: ['a.example'] } });
  expect(await runtime.network.edgeWalls()).toEqual([]);
  expect(await runtime.network.check('https://a.example/')).toMatchObject({ allowed: true });
  const names = ['noNewPrivileges', 'capabilities', 'limits', 'notDumpable', 'seccomp'];
  expect(await runtime.network.edgeWalls()).toEqual(names.map((name) => ({ name, stands: true })));
});

test('a runtime without the option `network` has no edge process to report', async () => {
  await using runtime = await NodeRuntime.create();
  expect(await runtime.network.edgeWalls()).toEqual([]);
});

test('folders that are mounted later reach a walled sidecar', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coldframe-walls-'));
  try {
    writeFileSync(join(folder, 'in'), 'from the host');
    await using sidecar = await Sidecar.spawn();
    for (const readOnly of [true, false]) {
      const runtime = await NodeRuntime.create({ sidecar, mounts: [{ guestPath: '/data', hostPath: folder, readOnly }] });
      const write = `try { fs.writeFileSync('/data/out', 'from the guest'); fs.chmodSync('/data/out', 0o200);
        fs.chmodSync('/data/out', 0o600); console.log('written'); } catch (error) { console.log(error.code); }`;
      const { stdout } = await runtime.exec(
        `import fs from 'node:fs'; console.log(fs.readFileSync('/data/in', 'utf8')); ${write}`,
      );
      expect(stdout).toBe(`from the host\n${readOnly ? 'EROFS' : 'written'}\n`);
      await runtime.dispose();
    }
    expect(readFileSync(join(folder, 'out'), 'utf8')).toBe('from the guest');
    const mounts = [{ guestPath: '/data', hostPath: join(folder, 'none') }];
    await expect(NodeRuntime.create({ sidecar, mounts })).rejects.toMatchObject({
      code: 'ERR_INVALID_REQUEST',
      what: 'mounts.hostPath',
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
