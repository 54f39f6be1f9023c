// The steps of the build: the inputs, the outputs and the command of each step, and the steps that
// each step needs.
//
//   guest ──► image      packages/runner/dist   the guest image and the precompiled module
//   imager ─┴► shell     packages/runner/dist   the image with the shell, and the same module
//   native               packages/sidecar/dist  the sidecar, the Node-API addon and the edge
//   runner, sidecar ► sdk ► benchmarks          TypeScript; the entry points of sdk are bundled
//   notices              packages/*             the licence and the notices, for published packages
//
// The imager turns wasmtime's compiler on. In one call of cargo, cargo would turn the compiler on
// for the sidecar as well, which must start fast and contain no compiler. A release therefore
// compiles wasmtime twice: for `imager` in the profile `builder`, and for `native` in the profile
// `release`. A development build compiles wasmtime once, because `native` is then also built in the
// profile `builder`, with the compiler and without link-time optimization.
//
// `native` precedes `imager`, because link-time optimization takes minutes on one processor. The
// other processor then compiles the imager.

import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { cargoBuild } from './cargo.mjs';
import { compiledFiles, compileTypes } from './compile-types.mjs';
import { crateInputs } from './crates.mjs';
import { fromRoot } from './paths.mjs';
import { placeFile } from './place.mjs';
import { run } from './run.mjs';

const TESTS = ['test', 'tests', 'fixtures', 'benches', 'fuzz'];
const RUNNER_DIST = 'packages/runner/dist';
const IMAGER = '.build/bin/coldframe-imager';
const FINGERPRINT = '.build/bin/imager-fingerprint.txt';
/**
 * The files that decide whether an image is stale, beside the image's inputs. The imager's binary
 * is not listed, because the binary changes with every crate.
 */
const IMAGER_IDENTITY = [FINGERPRINT, 'packages/sidecar/crates/imager/src'];
const SIDECAR = 'packages/sidecar/dist/coldframe-sidecar';
const ADDON = 'packages/sidecar/dist/coldframe.node';
const EDGE = 'packages/sidecar/dist/coldframe-edge';

const machine = `${process.platform}-${process.arch}`;

async function buildGuest(report) {
  const onLine = (line) => {
    // Omits lines that end with a time, because the build's own progress shows the time.
    if (!/: \d+ s$/.test(line)) report(line.replace(/^\[runner\] /, ''));
  };
  await run(process.execPath, ['packages/runner/build/guest.mjs'], { onLine });
}

async function buildImager(report) {
  // Selects from the whole workspace, so that cargo enables the features that the whole workspace
  // needs, as in the tests. With other features cargo would compile wasmtime's compiler twice.
  const selection = ['--workspace', '--bin', 'coldframe-imager'];
  const folder = await cargoBuild({ packages: ['coldframe-imager'], profile: 'builder', report, selection });
  placeFile(join(folder, 'coldframe-imager'), fromRoot(IMAGER), 0o755);
  const fingerprint = await run(fromRoot(IMAGER), ['--fingerprint']);
  writeFileSync(fromRoot(FINGERPRINT), fingerprint.join('\n'));
}

// The imager renames finished files into place, the module before the image that names the module.
async function makeImage(name, inputs, report) {
  const folders = inputs.flatMap((folder) => ['--inputs', `${RUNNER_DIST}/${folder}`]);
  const options = ['--wasm', `${RUNNER_DIST}/guest.wasm`, ...folders, '--out', RUNNER_DIST, '--name', name];
  await run(fromRoot(IMAGER), options, { onLine: report });
}

const NATIVE = ['coldframe-sidecar', 'coldframe-node', 'coldframe-edge'];

const buildRelease = (report) => cargoBuild({ packages: NATIVE, profile: 'release', report });

/**
 * Selects from the workspace as `buildImager` does, so that cargo reuses the crates compiled for
 * the imager.
 */
const buildDevelopment = (report) =>
  cargoBuild({ packages: NATIVE, profile: 'builder', report, selection: ['--workspace', '--lib', '--bins'] });

async function buildNative(report, dev) {
  const folder = await (dev ? buildDevelopment : buildRelease)(report);
  placeFile(join(folder, 'coldframe-sidecar'), fromRoot(SIDECAR), 0o755);
  placeFile(join(folder, 'libcoldframe_node.so'), fromRoot(ADDON), 0o755);
  placeFile(join(folder, 'coldframe-edge'), fromRoot(EDGE), 0o755);
}

/**
 * The place of the module's file name in the header of an image
 * (crates/memory/src/image/format.rs).
 */
const MODULE_NAME = [72, 128];

/** Lists the files of the finished image `name`: the image, and the module that the image names. */
function imageFiles(name) {
  const image = `${RUNNER_DIST}/${name}.image`;
  const module = readFileSync(fromRoot(image)).toString('latin1', ...MODULE_NAME);
  return [image, `${RUNNER_DIST}/${module.replaceAll('\0', '')}`];
}

const PUBLISHED = ['runner', 'sdk', 'sidecar'];
const NOTICES = ['LICENSE', 'NOTICE'];

const noticeCopies = PUBLISHED.flatMap((name) => NOTICES.map((file) => `packages/${name}/${file}`));

async function copyNotices() {
  for (const path of noticeCopies) placeFile(fromRoot(basename(path)), fromRoot(path), 0o644);
}

/** The entry points of the SDK: the module of each bundle. */
const SDK_BUNDLES = {
  entries: {
    index: 'index.js',
    'chunks/zod-json-schema': 'bindings/zod-json-schema.js',
    command: 'command/main.js',
    'secure-exec': 'secure-exec/index.js',
    check: 'check/index.js',
    'check-worker': 'check/worker.js',
  },
};

const typescript = (name, needs, dependencies, options) => ({
  name,
  title: `TypeScript of packages/${name}`,
  needs,
  inputs: [
    `packages/${name}/src`,
    `packages/${name}/tsconfig.json`,
    `packages/${name}/package.json`,
    'tsconfig.json',
    'pnpm-lock.yaml',
    ...(options?.bundles ? ['scripts/build/bundle.mjs', 'scripts/build/needless-names.mjs'] : []),
    ...dependencies.map((dependency) => `packages/${dependency}/src`),
  ],
  outputs: [`packages/${name}/dist`],
  listOutputs: () => compiledFiles(`packages/${name}`),
  expectedSeconds: 2,
  run: () => compileTypes(`packages/${name}`, options),
});

/**
 * Returns all steps, each after the steps that it needs. Steps with the same `lane` run one at a
 * time. `dev` chooses the development build of `native`; the other steps do not depend on `dev`.
 */
export const steps = ({ dev = false } = {}) => {
  // The two steps that call cargo have the same profile in a development build. Cargo locks the
  // folder of a profile.
  const lane = dev ? 'cargo' : undefined;
  return [
    {
      name: 'guest',
      title: 'engine to WebAssembly, and the files that go into the image',
      needs: [],
      inputs: ['packages/runner'],
      skip: ['dist', 'src', 'README.md', ...NOTICES, ...TESTS],
      outputs: [`${RUNNER_DIST}/guest.wasm`, `${RUNNER_DIST}/inputs`, `${RUNNER_DIST}/shell-inputs`],
      expectedSeconds: 90,
      run: buildGuest,
    },
    {
      name: 'native',
      title: dev ? 'sidecar, Node-API addon and edge process, for development' : 'sidecar, Node-API addon and edge process',
      key: dev ? `${machine}, for development` : machine,
      needs: [],
      lane,
      inputs: crateInputs(NATIVE),
      skip: TESTS,
      outputs: [SIDECAR, ADDON, EDGE],
      expectedSeconds: dev ? 20 : 120,
      run: (report) => buildNative(report, dev),
    },
    {
      name: 'imager',
      title: 'image builder with the WebAssembly compiler',
      needs: [],
      lane,
      inputs: crateInputs(['coldframe-imager']),
      skip: TESTS,
      outputs: [IMAGER, FINGERPRINT],
      expectedSeconds: 180,
      run: buildImager,
    },
    {
      name: 'image',
      title: 'guest image',
      needs: ['guest', 'imager'],
      inputs: [`${RUNNER_DIST}/guest.wasm`, `${RUNNER_DIST}/inputs`, ...IMAGER_IDENTITY],
      outputs: [`${RUNNER_DIST}/guest.image`],
      listOutputs: () => imageFiles('guest'),
      expectedSeconds: 5,
      run: (report) => makeImage('guest', ['inputs'], report),
    },
    {
      name: 'shell',
      title: 'image with the shell',
      needs: ['guest', 'imager'],
      inputs: [`${RUNNER_DIST}/guest.wasm`, `${RUNNER_DIST}/inputs`, `${RUNNER_DIST}/shell-inputs`, ...IMAGER_IDENTITY],
      outputs: [`${RUNNER_DIST}/shell.image`],
      listOutputs: () => imageFiles('shell'),
      expectedSeconds: 8,
      run: (report) => makeImage('shell', ['inputs', 'shell-inputs'], report),
    },
    typescript('runner', [], []),
    typescript('sidecar', [], [], { bundles: { entries: { index: 'index.js' } } }),
    typescript('sdk', ['runner', 'sidecar'], ['runner', 'sidecar'], { bundles: SDK_BUNDLES }),
    typescript('benchmarks', ['sdk'], ['sdk']),
    {
      name: 'notices',
      title: 'licence and notices',
      needs: [],
      inputs: NOTICES,
      outputs: noticeCopies,
      expectedSeconds: 1,
      run: copyNotices,
    },
  ].map((step) => ({ key: machine, ...step }));
};
