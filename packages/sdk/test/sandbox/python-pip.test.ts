// Tests pip in the sandbox: installations from an index of the test, under a policy.

import { pythonDir } from '@coldframe/python';
import { describe, expect, test } from 'vitest';
import { type ExecResult, NodeRuntime, type NodeRuntimeOptions } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { type Distribution, type IndexOptions, sha256, startIndex, type TestIndex, wheel } from './python-index.js';

const isBuilt = pythonDir() !== undefined;
const PACKAGES = '/usr/local/lib/python3.13/site-packages';

const pip = (runtime: NodeRuntime, line: string): Promise<ExecResult> => runtime.execCommand('pip', line.split(' '));

const sh = async (runtime: NodeRuntime, line: string): Promise<string> => {
  const { stdout, stderr } = await runtime.execCommand('sh', ['-c', line]);
  return stdout + stderr;
};

/** Runs `work` with an index and a runtime that may connect to the index. */
async function withIndex(
  files: readonly Distribution[],
  work: (runtime: NodeRuntime, index: TestIndex) => Promise<void>,
  { runtime: options = {}, ...index }: IndexOptions & { runtime?: NodeRuntimeOptions } = {},
): Promise<void> {
  await using served = await startIndex(files, index);
  const env = { PIP_INDEX_URL: served.url };
  await using runtime = await NodeRuntime.create({ env, network: { private: [served.entry] }, ...options });
  await work(runtime, served);
}

const GREETER = wheel('greeter', { version: '1.2', requires: ['helper>=1'], scripts: { greet: 'greeter:main' } });
const HELPER = wheel('helper', { version: '2.0' });

describe.skipIf(!isBuilt).each(MODES)('$name, with pip', (mode) => {
  test('installs a package and its requirements, lists them, runs a command, and uninstalls', async () => {
    await using index = await startIndex([GREETER, HELPER, wheel('helper', { version: '0.5' })]);
    const options = { env: { PIP_INDEX_URL: index.url }, network: { private: [index.entry] } };
    await withRuntime(mode, options, async (runtime) => {
      const installed = await pip(runtime, 'install greeter');
      expect(installed.stderr).toBe('');
      expect(installed.stdout).toContain('Successfully installed greeter-1.2 helper-2.0');
      expect(await sh(runtime, 'pip freeze; pip check; greet; which greet; python3 -c "import helper; helper.main()"')).toBe(
        'greeter==1.2\nhelper==2.0\nNo broken requirements found.\ngreeter 1.2\n/usr/local/bin/greet\nhelper 2.0\n',
      );
      expect((await pip(runtime, 'show -f greeter')).stdout).toContain(`Location: ${PACKAGES}\nRequires: helper`);
      expect((await pip(runtime, 'list --format=freeze')).stdout).toMatch(/^greeter==1\.2\nhelper==2\.0\npip==\S+\n$/);
      const removed = await pip(runtime, 'uninstall -y greeter');
      expect(removed).toMatchObject({ exitCode: 0, stderr: '' });
      expect(await runtime.exists('/usr/local/bin/greet')).toBe(false);
      expect(await runtime.exists(`${PACKAGES}/greeter.py`)).toBe(false);
      expect((await pip(runtime, 'freeze')).stdout).toBe('helper==2.0\n');
    });
  });

  test.each([
    ['without a network', {}, /Permission denied/],
    ['by the policy', { network: { allow: ['example.com'] } }, /the permission network\.dns is denied[\s\S]*index\.example/],
  ])('an index that is denied %s fails within seconds, and the reason is printed', (_case, options, reason) =>
    withRuntime(mode, options, async (runtime) => {
      const begin = performance.now();
      const { exitCode, stderr } = await pip(runtime, 'install --index-url https://index.example/simple greeter');
      expect(performance.now() - begin).toBeLessThan(8_000);
      expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/No matching distribution found for greeter/)]);
      expect(stderr).toMatch(reason);
    }),
  );
});

describe.skipIf(!isBuilt)('pip', () => {
  test.each(['html', 'json'] as const)('reads pages in %s', (format) =>
    withIndex(
      [GREETER, HELPER],
      async (runtime, index) => {
        expect(await pip(runtime, 'install greeter')).toMatchObject({ exitCode: 0 });
        const metadata = index.requests.filter((path) => path.endsWith('.metadata'));
        expect(metadata).toHaveLength(format === 'json' ? 2 : 0);
      },
      { format },
    ),
  );

  test('honours hashes of requirements and of the index', () =>
    withIndex(
      [GREETER, HELPER, wheel('damaged')],
      async (runtime) => {
        const line = (file: Distribution, digest = sha256(file.bytes)) =>
          `${file.project}==${file.file.split('-')[1]} --hash=sha256:${digest}\n`;
        await runtime.writeFile('/workspace/good.txt', line(GREETER) + line(HELPER));
        await runtime.writeFile('/workspace/bad.txt', line(GREETER) + line(HELPER, sha256('other')));
        await runtime.writeFile('/workspace/missing.txt', line(GREETER));
        const bad = await pip(runtime, 'install --require-hashes -r bad.txt');
        expect([bad.exitCode, bad.stderr]).toEqual([1, expect.stringContaining('DO NOT MATCH THE HASHES')]);
        const missing = await pip(runtime, 'install --require-hashes -r missing.txt');
        expect([missing.exitCode, missing.stderr]).toEqual([1, expect.stringContaining('helper')]);
        expect((await pip(runtime, 'freeze')).stdout).toBe('');
        expect((await pip(runtime, 'install --require-hashes -r good.txt')).stdout).toContain('Successfully installed');
        const damaged = await pip(runtime, 'install damaged');
        expect([damaged.exitCode, damaged.stderr]).toEqual([1, expect.stringContaining('DO NOT MATCH THE HASHES')]);
      },
      { hashOf: ({ project, bytes }) => sha256(project === 'damaged' ? 'other' : bytes) },
    ));

  test('obeys constraints, upgrades, downloads, and installs into a folder', () =>
    withIndex([GREETER, HELPER, wheel('helper', { version: '1.5' })], async (runtime) => {
      await runtime.writeFile('/workspace/limits.txt', 'helper<2\n');
      expect((await pip(runtime, 'install -c limits.txt greeter')).stdout).toContain('helper-1.5');
      expect((await pip(runtime, 'install --upgrade helper')).stdout).toContain('Successfully uninstalled helper-1.5');
      expect(await pip(runtime, 'download -d wheels greeter')).toMatchObject({ exitCode: 0 });
      expect((await runtime.readDir('/workspace/wheels')).sort()).toEqual([GREETER.file, HELPER.file]);
      expect(await pip(runtime, 'install --no-index --find-links wheels --target here greeter')).toMatchObject({ exitCode: 0 });
      expect(await runtime.exists('/workspace/here/helper.py')).toBe(true);
      expect(await pip(runtime, 'install ./wheels/helper-2.0-py3-none-any.whl')).toMatchObject({ exitCode: 0 });
      await runtime.writeFile('/workspace/pyproject.toml', '');
      expect(await sh(runtime, 'pip config list; pip cache dir')).toContain("global.only-binary=':all:'");
    }));

  test('names the conflict of requirements', () =>
    withIndex(
      [
        wheel('one', { requires: ['helper<1'] }),
        wheel('two', { requires: ['helper>=2'] }),
        HELPER,
        wheel('helper', { version: '0.5' }),
      ],
      async (runtime) => {
        const { exitCode, stdout, stderr } = await pip(runtime, 'install one two');
        expect([exitCode, stdout + stderr]).toEqual([
          1,
          expect.stringMatching(/one 1\.0 depends on helper<1[\s\S]*ResolutionImpossible/),
        ]);
      },
    ));

  test('names source distributions and wheels for other platforms that it ignores', () => {
    const source = { project: 'native', file: 'native-1.0.tar.gz', bytes: Buffer.from('none') };
    const other = wheel('native', { tag: 'cp313-cp313-manylinux_2_28_x86_64' });
    const own = wheel('ours', { tag: 'cp313-cp313-linux_wasm32' });
    return withIndex([source, other, own], async (runtime) => {
      const { exitCode, stderr } = await pip(runtime, 'install native');
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringMatching(
          /Ignored wheels for other platforms, such as native-1\.0-cp313-cp313-manylinux\S+\n[\s\S]*No matching/,
        ),
      ]);
      expect(stderr).toContain('Ignored source distributions (--no-binary native builds them), such as native-1.0.tar.gz');
      expect((await pip(runtime, 'install ours')).stdout).toContain('Successfully installed ours-1.0');
    });
  });

  test('replaces itself in the folder of installed packages', () => {
    const other = wheel('pip', {
      version: '99.0',
      scripts: { pip: 'pip.__main__:main' },
      files: { 'pip/__init__.py': '', 'pip/__main__.py': 'def main():\n    print("other pip")\n\nmain()\n', 'pip.py': '' },
    });
    return withIndex([other], async (runtime) => {
      const { exitCode, stdout } = await pip(runtime, 'install --upgrade pip');
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining('Successfully installed pip-99.0')]);
      expect((await runtime.execCommand('python3', ['-m', 'pip'])).stdout).toBe('other pip\n');
      expect(await sh(runtime, 'rm -r /usr/local/lib/python3.13/site-packages/pip* && python3 -m pip --version')).toMatch(
        /^pip 2/,
      );
    });
  });
});

describe.skipIf(!isBuilt)('a hostile wheel', () => {
  test.each([
    ['a path that leaves the folder', wheel('evil', { files: { '../../../../../../workspace/out': 'x' } })],
    ['an absolute path', wheel('evil', { files: { '/workspace/out': 'x' } })],
  ])('with %s is refused', (_name, evil) =>
    withIndex([evil], async (runtime) => {
      const { exitCode, stderr } = await pip(runtime, 'install evil');
      expect(exitCode, stderr).not.toBe(0);
      expect(await runtime.exists('/workspace/out')).toBe(false);
    }),
  );

  test('removes no file of the library or of root with its RECORD', () => {
    const record = 'evil.py,,\n../../../../lib/python3.13/os.py,,\n../../../bin/node,,\nevil-1.0.dist-info/RECORD,,\n';
    return withIndex([wheel('evil', { record })], async (runtime) => {
      await pip(runtime, 'install evil');
      await runtime.writeFile(`${PACKAGES}/evil-1.0.dist-info/RECORD`, record);
      await pip(runtime, 'uninstall -y evil');
      expect(await runtime.exists('/usr/lib/python3.13/os.py')).toBe(true);
      expect(await runtime.exists('/usr/local/bin/node')).toBe(true);
    });
  });

  test('that is larger than the disk fails with ENOSPC, and leaves a usable runtime', () =>
    withIndex(
      [wheel('large', { files: { 'large.bin': Buffer.alloc(64 << 20) } })],
      async (runtime) => {
        const { exitCode, stderr } = await pip(runtime, 'install large');
        expect([exitCode, stderr]).toEqual([1, expect.stringContaining('[Errno 28] No space left on device')]);
        expect(await sh(runtime, 'python3 -c "print(1)"; ls /tmp')).toBe('1\n');
      },
      { runtime: { limits: { filesystemBytes: 16 << 20 } } },
    ));

  test('with an endless import is ended by the time limit', () =>
    withIndex([wheel('endless', { files: { 'endless.py': 'while True: pass\n' } })], async (runtime) => {
      await pip(runtime, 'install endless');
      const result = await runtime.exec('import endless', { language: 'python', timeout: 200 });
      expect(result.error).toMatchObject({ code: 'ERR_TIMEOUT' });
    }));
});
