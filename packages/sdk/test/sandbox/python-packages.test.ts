// Tests the option `python` of `NodeRuntime.create()`: packages that are installed once for a list.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonDir } from '@coldframe/python';
import { afterAll, describe, expect, test } from 'vitest';
import { NodeRuntime, type NodeRuntimeOptions, RuntimePool, Sidecar } from '../../src/index.js';
import { MODES, withMode } from './modes.js';
import { sha256, startIndex, type TestIndex, wheel } from './python-index.js';
import { disposeAll, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

const isBuilt = pythonDir() !== undefined;
const folder = mkdtempSync(join(tmpdir(), 'coldframe-wheels-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const GREETER = wheel('greeter', { version: '1.2', requires: ['helper>=1'], scripts: { greet: 'greeter:main' } });
const HELPER = wheel('helper', { version: '2.0' });
const LOCAL = wheel('local', { version: '3.0' });
const localPath = join(folder, LOCAL.file);
writeFileSync(localPath, LOCAL.bytes);

const packagesOf = (index: TestIndex, packages: readonly string[]): NodeRuntimeOptions => ({
  python: { packages, indexUrl: index.url },
});
const freeze = async (runtime: NodeRuntime): Promise<string> => (await runtime.execCommand('pip', ['freeze'])).stdout;

describe.skipIf(!isBuilt).each(MODES)('$name, the packages of Python', (mode) => {
  test('are installed by the first call, and restored by later calls', () =>
    withMode(mode, async (provisioning) => {
      await using index = await startIndex([GREETER, HELPER]);
      const options = { ...packagesOf(index, ['greeter']), files: { '/workspace/a': 'text' }, env: { A: '1' } };
      const first = await provisioning.create(options);
      const greet = async (runtime: NodeRuntime) => (await runtime.execCommand('sh', ['-c', 'greet; cat a; echo $A'])).stdout;
      expect(await greet(first)).toBe('greeter 1.2\ntext1\n');
      const requests = index.requests.length;
      const begin = performance.now();
      const second = await provisioning.create(options);
      expect(performance.now() - begin).toBeLessThan(2_000);
      expect([await greet(second), index.requests.length]).toEqual(['greeter 1.2\ntext1\n', requests]);
      expect((await second.exec('require("http").get(process.argv[2])', { args: [index.url] })).exitCode).toBe(1);
      await disposeAll([first, second]);
    }));
});

describe.skipIf(!isBuilt)('the packages of Python', () => {
  /** Runs `work` with an index and a sidecar. */
  async function withIndex(work: (index: TestIndex, sidecar: Sidecar) => Promise<void>): Promise<void> {
    await using index = await startIndex([GREETER, HELPER]);
    await using sidecar = await Sidecar.spawn();
    await work(index, sidecar);
  }

  test('contain wheels of this machine, which belong to the key of the list', () =>
    withIndex(async (index, sidecar) => {
      const options = { ...packagesOf(index, [localPath, 'helper']), sidecar };
      const first = await NodeRuntime.create(options);
      expect(await freeze(first)).toMatch(/^helper==2\.0\nlocal @ file:\S+\n$/);
      expect(await first.readDir('/tmp')).toEqual([]);
      const other = wheel('local', { version: '3.0', files: { 'local.py': 'version = "changed"\n' } });
      writeFileSync(localPath, other.bytes);
      const second = await NodeRuntime.create(options);
      const code = 'import local; print(local.version)';
      expect((await second.exec(code, { language: 'python' })).stdout).toBe('changed\n');
      expect((await first.exec(code, { language: 'python' })).stdout).toBe('3.0\n');
      await disposeAll([first, second]);
    }));

  test('are installed once for calls at the same time', () =>
    withIndex(async (index, sidecar) => {
      const options = { ...packagesOf(index, ['helper']), sidecar };
      const runtimes = await Promise.all(Array.from({ length: 5 }, () => NodeRuntime.create(options)));
      expect(await Promise.all(runtimes.map(freeze))).toEqual(Array(5).fill('helper==2.0\n'));
      expect(index.requests.filter((path) => path.endsWith('.whl'))).toHaveLength(1);
      await disposeAll(runtimes);
    }));

  test('obey a requirements file with hashes', () =>
    withIndex(async (index, sidecar) => {
      const requirements = join(folder, 'requirements.txt');
      const create = (digest: string) => {
        writeFileSync(requirements, `helper==2.0 --hash=sha256:${digest}\n`);
        return NodeRuntime.create({ sidecar, python: { requirements, indexUrl: index.url } });
      };
      await expect(create(sha256('other'))).rejects.toMatchObject({
        code: 'ERR_PYTHON_PACKAGES',
        exitCode: 1,
        output: expect.stringContaining('DO NOT MATCH THE HASHES'),
      });
      const runtime = await create(sha256(HELPER.bytes));
      expect(await freeze(runtime)).toBe('helper==2.0\n');
      await runtime.dispose();
    }));

  test('that do not exist reject with the output of pip, and the next call tries again', () =>
    withIndex(async (index, sidecar) => {
      const create = (packages: readonly string[]) => NodeRuntime.create({ ...packagesOf(index, packages), sidecar });
      const failure = {
        code: 'ERR_PYTHON_PACKAGES',
        packages: ['missing'],
        exitCode: 1,
        output: expect.stringContaining('No matching distribution found for missing'),
      };
      await expect(create(['missing'])).rejects.toMatchObject(failure);
      await expect(create(['missing'])).rejects.toMatchObject(failure);
      await expect(create(['./missing-1.0-py3-none-any.whl'])).rejects.toMatchObject({
        code: 'ERR_PYTHON_PACKAGES',
        packages: ['./missing-1.0-py3-none-any.whl'],
        exitCode: null,
        output: expect.stringContaining('ENOENT'),
      });
      await expect(create(['--pre'])).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option: 'python.packages.0' });
      const runtime = await create(['helper']);
      expect((await sidecar.snapshots.list()).map(({ name }) => name)).toContainEqual(expect.stringMatching(/^python-packages-/));
      await runtime.dispose();
    }));

  test('do not reach hosts besides the index', () =>
    withIndex(async (index, sidecar) => {
      await using other = await startIndex([GREETER]);
      const packages = [`greeter @ ${other.url.replace('simple', 'files')}/${GREETER.file}`];
      await expect(NodeRuntime.create({ ...packagesOf(index, packages), sidecar })).rejects.toMatchObject({
        code: 'ERR_PYTHON_PACKAGES',
        exitCode: 1,
      });
      expect(other.requests).toEqual([]);
    }));

  test('are there in clones, snapshots and pools, with the limits of the runtime', () =>
    withIndex(async (index, sidecar) => {
      const options = packagesOf(index, ['helper']);
      const runtime = await NodeRuntime.create({ ...options, sidecar, limits: { cpuMs: 200 } });
      const clone = await runtime.clone();
      expect((await clone.exec('import helper; helper.main()', { language: 'python' })).stdout).toBe('helper 2.0\n');
      const endless = await runtime.exec('while True: pass', { language: 'python' });
      expect(endless.error).toMatchObject({ code: 'ERR_CPU_LIMIT', cpuMs: 200 });
      await using pool = new RuntimePool({ size: 2, options, sidecar });
      const { stdout } = await pool.withRuntime((slot) => slot.exec('import helper; helper.main()', { language: 'python' }));
      expect(stdout).toBe('helper 2.0\n');
      await disposeAll([runtime, clone]);
    }));
});
