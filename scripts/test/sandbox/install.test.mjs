// The packed packages can be installed into an empty project, and run there the programs of the
// READMEs, without Rust and without the checkout.
//
// npm installs `coldframe` from its tarball and its dependencies from a registry on the loopback.
// So npm itself chooses the platform packages. The long form installs with pnpm and Yarn as well.

import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fencedBlocks } from '../markdown.mjs';
import { packedPackages } from '../packed.mjs';
import { startRegistry } from '../registry.mjs';
import { readText } from '../tree.mjs';

const runFile = promisify(execFile);

const MB = 1_000_000;
/** A bound for a machine that hangs. */
const HANG_MS = 300_000;

const isLong = process.env.COLDFRAME_TESTS === 'long';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'coldframe-install-')));
const bin = join(root, 'bin');

/** The environment of installers: a PATH with Node and its tools only. */
const env = { ...process.env, PATH: bin, npm_config_update_notifier: 'false' };

let registry;
let sdk;
let hasPython;

const find = (program) =>
  process.env.PATH.split(delimiter)
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));

beforeAll(async () => {
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, 'node'));
  for (const program of ['npm', 'npx', 'sh', 'env']) symlinkSync(realpathSync(find(program)), join(bin, program));
  const packages = await packedPackages();
  sdk = packages.find(({ manifest }) => manifest.name === 'coldframe').path;
  hasPython = packages.some(({ manifest }) => manifest.name === `@coldframe/python-${process.platform}-${process.arch}`);
  registry = await startRegistry(packages);
}, HANG_MS);

afterAll(async () => {
  await registry?.close();
  rmSync(root, { recursive: true, force: true });
});

/** Makes an empty project that takes Coldframe's packages from the registry on the loopback. */
function emptyProject(name) {
  const folder = join(root, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, private: true, type: 'module' }));
  writeFileSync(join(folder, '.npmrc'), `@coldframe:registry=${registry.url}/\n`);
  return folder;
}

/**
 * Runs a program in the project. An error has both outputs, because Yarn prints errors on stdout.
 */
const inProject = (folder, command, ...args) =>
  runFile(command, args, { cwd: folder, env, timeout: HANG_MS }).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
  });

const npmInstall = (folder, ...options) =>
  inProject(folder, 'npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', ...options, sdk);

const programs = ['README.md', 'packages/sdk/README.md'].flatMap((document) =>
  fencedBlocks(readText(document)).flatMap(({ flags, text }, index, blocks) =>
    flags.includes('run') ? [{ document, text, output: blocks[index + 1].text }] : [],
  ),
);

/** Runs a program in the project, as a user would, with a home folder of its own. */
async function runProgram(folder, text) {
  writeFileSync(join(folder, 'app.mjs'), text);
  const environment = { PATH: bin, HOME: folder };
  return runFile(process.execPath, ['app.mjs'], { cwd: folder, env: environment, timeout: HANG_MS });
}

async function expectPrograms(folder) {
  expect(programs.length).toBeGreaterThan(3);
  for (const { document, text, output } of programs) {
    const { stdout } = await runProgram(folder, text);
    expect(stdout.trimEnd(), document).toBe(output.trimEnd());
  }
}

/** Returns the sum of the sizes of all files in a folder. */
function installedBytes(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => lstatSync(join(folder, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}

const HELLO = `import { NodeRuntime } from 'coldframe';
const runtime = await NodeRuntime.create();
console.log((await runtime.exec('console.log(6 * 7)')).stdout);
await runtime.dispose();`;

test('programs run after an installation by npm', { timeout: HANG_MS }, async () => {
  const folder = emptyProject('npm');
  expect(() => execFileSync('cargo', { env, stdio: 'ignore' })).toThrow(/ENOENT/);
  await npmInstall(folder);
  await expectPrograms(folder);
  await inProject(folder, 'npm', 'ls', '--all');

  const scope = readdirSync(join(folder, 'node_modules/@coldframe'));
  const platform = `${process.platform}-${process.arch}`;
  expect(scope.filter((name) => name.startsWith('runner-'))).toEqual([`runner-${platform}`]);
  expect(scope.filter((name) => name.startsWith('sidecar-'))).toHaveLength(1);
  expect(existsSync(join(folder, 'node_modules/.bin/node'))).toBe(false);
  expect(installedBytes(join(folder, 'node_modules'))).toBeLessThanOrEqual(57 * MB);

  // An archive or a copy may lose the permission to run.
  const program = join(
    folder,
    'node_modules/@coldframe',
    scope.find((name) => name.startsWith('sidecar-')),
    'coldframe-sidecar',
  );
  expect(statSync(program).mode & 0o111).toBe(0o111);
  chmodSync(program, 0o644);
  expect((await runProgram(folder, HELLO)).stdout).toBe('42\n\n');
});

test('programs in Python run after an installation of @coldframe/python', { timeout: HANG_MS }, async ({ skip }) => {
  skip(!hasPython, 'the image of Python has not been built');
  const folder = emptyProject('python');
  await npmInstall(folder, '@coldframe/python');
  const program = `import { NodeRuntime } from 'coldframe';
const runtime = await NodeRuntime.create();
console.log((await runtime.exec('import json; print(json.dumps({"answer": 6 * 7}))', { language: 'python' })).stdout);
await runtime.dispose();`;
  expect((await runProgram(folder, program)).stdout).toBe('{"answer": 42}\n\n');
});

test('an error names the package that --omit=optional left out', { timeout: HANG_MS }, async () => {
  const folder = emptyProject('without-optional');
  await npmInstall(folder, '--omit=optional');
  const { stdout } = await runProgram(
    folder,
    `import { NodeRuntime } from 'coldframe';
     await NodeRuntime.create().catch((error) => console.log(JSON.stringify({ ...error, message: error.message })));`,
  );
  expect(JSON.parse(stdout)).toMatchObject({
    code: 'ERR_PLATFORM_PACKAGE',
    package: expect.stringMatching(`^@coldframe/(runner|sidecar)-linux-${process.arch}`),
    os: 'linux',
    cpu: process.arch,
    libc: expect.stringMatching(/^(glibc|musl)$/),
    installed: [],
    message: expect.stringContaining('npm install --include=optional'),
  });
});

test.skipIf(!isLong)('programs run after an installation by pnpm', { timeout: HANG_MS }, async () => {
  const folder = emptyProject('pnpm');
  await inProject(folder, 'npx', '--yes', 'pnpm@10', 'add', sdk, '--store-dir', join(root, 'pnpm-store'));
  await expectPrograms(folder);
});

test.skipIf(!isLong).each(['node-modules', 'pnp'])(
  'programs run after an installation by Yarn: %s',
  { timeout: HANG_MS },
  async (linker) => {
    const folder = emptyProject(`yarn-${linker}`);
    const { stdout: upstream } = await inProject(folder, 'npm', 'config', 'get', 'registry');
    const configuration = {
      nodeLinker: linker,
      enableTelemetry: false,
      // Yarn keeps manifests by name, and another run of this test has another registry.
      globalFolder: join(root, 'yarn'),
      npmRegistryServer: upstream.trim(),
      unsafeHttpWhitelist: ['127.0.0.1', new URL(upstream.trim()).hostname],
      npmScopes: { coldframe: { npmRegistryServer: registry.url } },
    };
    writeFileSync(join(folder, '.yarnrc.yml'), JSON.stringify(configuration));
    writeFileSync(join(folder, 'yarn.lock'), '');
    const yarn = (...args) => inProject(folder, 'npx', '--yes', '--package=@yarnpkg/cli-dist@4.18.1', 'yarn', ...args);
    // Yarn refuses packages that were published a short time ago.
    await yarn('add', '--no-time-gate', `coldframe@file:${sdk}`);
    if (linker === 'node-modules') return expectPrograms(folder);
    writeFileSync(join(folder, 'app.mjs'), HELLO);
    expect((await yarn('node', 'app.mjs')).stdout).toBe('42\n\n');
  },
);
