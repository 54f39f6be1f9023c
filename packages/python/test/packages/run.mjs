// Installs packages of an index in the sandbox with pip, and runs the main job of each package. The
// python3 of this machine runs the same programs, and the script compares the outputs. `pnpm
// test:long` runs the script. Without a connection to an index, or without python3, the script
// prints the reason and ends. `COLDFRAME_NATIVE_PYTHON` is the path of another interpreter, of
// version 3.12 or newer.
//
//   node packages/python/test/packages/run.mjs [NAME ...]

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { NodeRuntime } from '../../../sdk/dist/index.js';
import { cacheDir } from '../../build/paths.mjs';
import { PROGRAMS } from './programs.mjs';
import { SOURCES, VERSIONS } from './versions.mjs';

const wheels = join(cacheDir, 'python-wheels');
const native = join(cacheDir, `python-native.${process.pid}`);
const WHEELS_ONLY = ['--only-binary=:all:', '--python-version=3.13', '--implementation=py', '--abi=none', '--platform=any'];
const LIMITS = { memoryBytes: 512 << 20, cpuMs: 300_000, filesystemBytes: 512 << 20, inodes: 65_536 };

const python3 = (args, options = {}) =>
  execFileSync(process.env.COLDFRAME_NATIVE_PYTHON ?? 'python3', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });

/** Downloads the pinned files that are missing. */
function download() {
  mkdirSync(wheels, { recursive: true });
  const files = readdirSync(wheels).map((file) => file.toLowerCase().replaceAll('_', '-'));
  const isThere = ([name, version]) => files.some((file) => file.startsWith(`${name.replaceAll('_', '-')}-${version}`));
  const missing = Object.entries(VERSIONS).filter((pin) => !isThere(pin));
  const pinned = (pins) => pins.map(([name, version]) => `${name}==${version}`);
  const get = (options, pins) =>
    pins.length > 0 && python3(['-m', 'pip', 'download', '-q', '--no-deps', '-d', wheels, ...options, ...pinned(pins)]);
  get(
    WHEELS_ONLY,
    missing.filter(([name]) => !SOURCES.includes(name)),
  );
  get(
    ['--no-binary=:all:'],
    missing.filter(([name]) => SOURCES.includes(name)),
  );
}

/** Returns the output of a program in the python3 of this machine. */
function runNative(program) {
  try {
    return python3(['-c', program], { env: { ...process.env, PYTHONPATH: native, PYTHONDONTWRITEBYTECODE: '1' }, cwd: '/tmp' });
  } catch (error) {
    return `failed: ${error.stderr}`;
  }
}

async function compare(runtime, name) {
  const requirement = `${name}==${VERSIONS[name]}`;
  const begin = performance.now();
  const install = [
    'install',
    '-q',
    '--no-index',
    '--find-links=/wheels',
    ...SOURCES.map((one) => `--no-binary=${one}`),
    requirement,
  ];
  const installed = await runtime.execCommand('pip', install);
  if (installed.exitCode !== 0) return { failure: `pip failed: ${installed.stderr.slice(-2_000)}` };
  const installMs = performance.now() - begin;
  const { stdout, stderr, exitCode } = await runtime.exec(PROGRAMS[name], { language: 'python', cwd: '/tmp' });
  const expected = runNative(PROGRAMS[name]);
  if (exitCode !== 0) return { failure: `exit code ${exitCode}: ${stderr.slice(-2_000)}` };
  if (stdout !== expected) return { failure: `expected\n${expected}\nreceived\n${stdout}` };
  return { installMs, runMs: performance.now() - begin - installMs };
}

async function main(names) {
  try {
    download();
  } catch (error) {
    process.stdout.write(
      `skipped: the packages could not be downloaded: ${String(error.stderr ?? error.message)
        .trim()
        .split('\n')
        .at(-1)}\n`,
    );
    return;
  }
  const pins = names.map((name) => `${name}==${VERSIONS[name]}`);
  python3(['-m', 'pip', 'install', '-q', '--no-index', `--find-links=${wheels}`, '--target', native, ...pins]);
  const mounts = [{ guestPath: '/wheels', hostPath: wheels }];
  const runtime = await NodeRuntime.create({ mounts, limits: LIMITS });
  let failed = 0;
  for (const name of names) {
    const { failure, installMs, runMs } = await compare(runtime, name);
    if (failure !== undefined) failed++;
    const result = failure ?? `${Math.round(installMs)} ms to install, ${Math.round(runMs)} ms to run`;
    process.stdout.write(`${failure === undefined ? 'passed' : 'FAILED'} ${name} ${VERSIONS[name]}: ${result}\n`);
  }
  await runtime.dispose();
  process.stdout.write(`${names.length - failed} of ${names.length} packages passed\n`);
  if (failed > 0) process.exitCode = 1;
}

try {
  await main(process.argv.length > 2 ? process.argv.slice(2) : Object.keys(PROGRAMS));
} finally {
  if (existsSync(native)) rmSync(native, { recursive: true, force: true });
}
