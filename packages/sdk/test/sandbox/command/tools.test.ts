// Tests the subcommands that run no program of the user: help, version, completion, doctor, bench
// and snapshot.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { SUBCOMMANDS } from '../../../src/command/subcommands.js';
import { NodeRuntime, Sidecar } from '../../../src/index.js';
import { LIMITS } from '../../../src/options/limits.js';
import { VERSION } from '../../../src/version.js';
import { run } from './command.js';

const runFile = promisify(execFile);
const ESCAPE = '\x1b[';

test('prints the version', async () => {
  expect(await run(['--version'])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
});

test('the help has every subcommand, and the help of a subcommand every option and limit', async () => {
  const { stdout } = await run(['--help']);
  for (const { name, summary } of SUBCOMMANDS) {
    expect(stdout).toContain(`  ${name}`);
    expect(stdout).toContain(summary);
  }
  const texts = await Promise.all([run(['run', '--help']), run(['help', 'run'])]);
  expect(texts[0]).toEqual(texts[1]);
  for (const name of ['--timeout MS', '--mount', '--allow-SCOPE', ...Object.keys(LIMITS)])
    expect(texts[0].stdout).toContain(name);
});

test('the help has colours only if they are wanted', async () => {
  expect((await run(['--help'])).stdout).not.toContain(ESCAPE);
  expect((await run(['--help'], { env: { FORCE_COLOR: '1', NO_COLOR: '' } })).stdout).toContain(ESCAPE);
  expect((await run(['--help'], { env: { FORCE_COLOR: '0' } })).stdout).not.toContain(ESCAPE);
});

test('an unknown subcommand names the nearest one', async () => {
  expect(await run(['dcotor'])).toMatchObject({ code: 125, stderr: expect.stringContaining('It is spelled `doctor`') });
});

test('the completion of bash completes subcommands, options, limits and words', async () => {
  const { stdout } = await run(['completion', 'bash']);
  const complete = async (...words: string[]): Promise<string[]> => {
    const script = `${stdout}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _coldframe; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return (await runFile('bash', ['-c', script, 'bash', 'coldframe', ...words])).stdout.trim().split('\n');
  };
  expect(await complete('do')).toEqual(['doctor']);
  expect(await complete('run', '--allow-fs-rea')).toEqual(['--allow-fs-read', '--allow-fs-readdir', '--allow-fs-readlink']);
  expect(await complete('exec', '--limit', 'cpu')).toEqual(['cpuMs=']);
  expect(await complete('snapshot', 'i')).toEqual(['import']);
});

test('the completions of zsh and fish have every subcommand', async () => {
  for (const shell of ['zsh', 'fish']) {
    const { code, stdout } = await run(['completion', shell]);
    expect([code, SUBCOMMANDS.filter(({ name }) => !stdout.includes(name))]).toEqual([0, []]);
  }
  expect((await run(['completion', 'tcsh'])).code).toBe(125);
});

test('doctor finds no failure, and prints the remedy for a failure', async () => {
  const { code, stdout } = await run(['doctor', '--json']);
  const report = JSON.parse(stdout);
  expect([code, report.ok]).toEqual([0, true]);
  expect(report.checks.map(({ check }: { check: string }) => check)).toEqual(
    expect.arrayContaining(['system', 'processor', 'shell']),
  );
  const broken = await run(['doctor'], { env: { COLDFRAME_SIDECAR: '/nonexistent/sidecar' } });
  expect(broken.code).toBe(1);
  expect(broken.stdout).toMatch(/FAIL {2}installation: .*COLDFRAME_SIDECAR: .*\n +remedy: Install/);
});

test('bench measures every row', async () => {
  const { code, stdout } = await run(['bench', '--rounds', '3', '--json']);
  const { figures } = JSON.parse(stdout);
  expect([code, figures.length]).toEqual([0, 5]);
  for (const { medianMs, p95Ms, samples } of figures) {
    expect(samples).toBeGreaterThanOrEqual(3);
    expect(medianMs).toBeGreaterThan(0);
    expect(p95Ms).toBeGreaterThanOrEqual(medianMs);
  }
  expect(await run(['bench', '--rounds', '0'])).toMatchObject({ code: 125, stderr: expect.stringContaining('--rounds') });
});

test('snapshot lists, exports, deletes and imports the snapshots on disk', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coldframe-command-'));
  try {
    const store = ['--store', join(folder, 'store')];
    const file = join(folder, 'template.snapshot');
    const sidecar = await Sidecar.spawn({ snapshots: { directory: store[1] } });
    const runtime = await NodeRuntime.create({ sidecar, files: { '/workspace/a.txt': 'kept' } });
    const { id } = await runtime.snapshot({ name: 'template', store: 'disk' });
    await sidecar.dispose();

    const list = async () => JSON.parse((await run(['snapshot', 'ls', '--json', ...store])).stdout).snapshots;
    expect(await list()).toMatchObject([{ id, name: 'template', programs: 0 }]);
    expect((await run(['snapshot', 'ls', ...store])).stdout).toMatch(new RegExp(`^ID .*\\n${id}  template `));
    expect(await run(['snapshot', 'export', 'template', file, ...store])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await readFile(file)).length).toBeGreaterThan(0);
    expect(await run(['snapshot', 'rm', id, ...store])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await list()).toEqual([]);
    expect(await run(['snapshot', 'rm', id, ...store])).toMatchObject({
      code: 125,
      stderr: expect.stringContaining('ERR_SNAPSHOT_NOT_FOUND'),
    });
    expect(await run(['snapshot', 'import', file, ...store])).toEqual({ code: 0, stdout: `${id}\n`, stderr: '' });
    expect(await list()).toMatchObject([{ id, name: 'template' }]);
    await writeFile(file, 'damaged');
    expect(await run(['snapshot', 'import', file, ...store])).toMatchObject({
      code: 125,
      stderr: expect.stringContaining('remedy:'),
    });
    expect((await run(['snapshot', 'export', ...store])).code).toBe(125);
  } finally {
    await rm(folder, { recursive: true });
  }
});
