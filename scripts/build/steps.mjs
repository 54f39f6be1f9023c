// The steps of the build: the inputs, the outputs and the command of each step, and the steps that
// each step needs.
//
//   guest ──► image      packages/runner/dist   the guest image and the precompiled module
//   imager ─┴► shell     packages/runner/dist   the image with the shell, and the same module
//   native               packages/sidecar/dist  the sidecar, the Node-API addon and the edge
//   runner, sidecar ► sdk ► server ► benchmarks  TypeScript; the entry points of sdk are bundled
//   page                 packages/server/dist/ui  the web page of the server
//   notices              packages/*             the licence and the notices, for published packages
//
// With `sanitize`, three more steps make a guest with checks for undefined behaviour, and its
// images:
//
//   sanitized-guest, guest, imager ► sanitized-image, sanitized-shell         .build/sanitized
//
// With `python`, two more steps make the guest and the image of Python:
//
//   python-guest, imager ► python-image   packages/python/dist   module, library and image
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
import { listFiles } from './inputs.mjs';
import { fromRoot } from './paths.mjs';
import { placeFile } from './place.mjs';
import { run } from './run.mjs';

const TESTS = ['test', 'tests', 'fixtures', 'benches', 'fuzz'];
const RUNNER_DIST = 'packages/runner/dist';
/** `sanitizedDir` of packages/runner/build/paths.mjs. */
export const SANITIZED = '.build/sanitized';
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

async function buildGuest(report, ...args) {
  const onLine = (line) => {
    // Omits lines that end with a time, because the build's own progress shows the time.
    if (!/: \d+ s$/.test(line)) report(line.replace(/^\[runner\] /, ''));
  };
  await run(process.execPath, ['packages/runner/build/guest.mjs', ...args], { onLine });
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
async function makeImage(name, inputs, report, folder = RUNNER_DIST) {
  const folders = inputs.flatMap((input) => ['--inputs', `${RUNNER_DIST}/${input}`]);
  const options = ['--wasm', `${folder}/guest.wasm`, ...folders, '--out', folder, '--name', name];
  await run(fromRoot(IMAGER), options, { onLine: report });
}

const SIDECAR_CRATES = ['coldframe-sidecar', 'coldframe-node'];
const EDGE_CRATE = 'coldframe-edge';
const NATIVE = [...SIDECAR_CRATES, EDGE_CRATE];

/** Builds the edge in a profile of its own, which is smaller. Resolves with the folders of both. */
async function buildRelease(report) {
  const edge = await cargoBuild({ packages: [EDGE_CRATE], profile: 'edge', report });
  return { edge, folder: await cargoBuild({ packages: SIDECAR_CRATES, profile: 'release', report }) };
}

/**
 * Selects from the workspace as `buildImager` does, so that cargo reuses the crates compiled for
 * the imager.
 */
async function buildDevelopment(report) {
  const selection = ['--workspace', '--lib', '--bins'];
  const folder = await cargoBuild({ packages: NATIVE, profile: 'builder', report, selection });
  return { edge: folder, folder };
}

async function buildNative(report, dev) {
  const { edge, folder } = await (dev ? buildDevelopment : buildRelease)(report);
  placeFile(join(folder, 'coldframe-sidecar'), fromRoot(SIDECAR), 0o755);
  placeFile(join(folder, 'libcoldframe_node.so'), fromRoot(ADDON), 0o755);
  placeFile(join(edge, 'coldframe-edge'), fromRoot(EDGE), 0o755);
}

/**
 * The place of the module's file name in the header of an image
 * (crates/memory/src/image/format.rs).
 */
const MODULE_NAME = [72, 128];

/** Lists the files of the finished image `name`: the image, and the module that the image names. */
function imageFiles(name, folder = RUNNER_DIST) {
  const image = `${folder}/${name}.image`;
  const module = readFileSync(fromRoot(image)).toString('latin1', ...MODULE_NAME);
  return [image, `${folder}/${module.replaceAll('\0', '')}`];
}

const PUBLISHED = ['python', 'runner', 'sdk', 'server', 'sidecar'];
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
    mcp: 'mcp/index.js',
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

const guestStep = {
  name: 'guest',
  title: 'engine to WebAssembly, and the files that go into the image',
  needs: [],
  inputs: ['packages/runner'],
  skip: ['dist', 'src', 'README.md', ...NOTICES, ...TESTS],
  outputs: [`${RUNNER_DIST}/guest.wasm`, `${RUNNER_DIST}/inputs`, `${RUNNER_DIST}/shell-inputs`],
  expectedSeconds: 90,
  run: (report) => buildGuest(report),
};

const sanitizedImage = (name, title, inputs, expectedSeconds) => ({
  name: `sanitized-${title}`,
  title: `sanitized ${name}.image`,
  needs: ['sanitized-guest', 'guest', 'imager'],
  inputs: [`${SANITIZED}/guest.wasm`, ...inputs.map((input) => `${RUNNER_DIST}/${input}`), ...IMAGER_IDENTITY],
  outputs: [`${SANITIZED}/${name}.image`],
  listOutputs: () => imageFiles(name, SANITIZED),
  expectedSeconds,
  run: (report) => makeImage(name, inputs, report, SANITIZED),
});

/** The steps of the guest with checks for undefined behaviour (docs/security-testing.md). */
const sanitizedSteps = () => [
  {
    ...guestStep,
    name: 'sanitized-guest',
    title: 'engine with checks for undefined behaviour',
    outputs: [`${SANITIZED}/guest.wasm`],
    expectedSeconds: 240,
    run: (report) => buildGuest(report, '--sanitize'),
  },
  sanitizedImage('guest', 'image', ['inputs'], 10),
  sanitizedImage('shell', 'shell', ['inputs', 'shell-inputs'], 15),
];

const PYTHON_DIST = 'packages/python/dist';

/** The image of Python, from the module and the standard library. */
const pythonImageStep = {
  name: 'python-image',
  title: 'image of Python',
  needs: ['python-guest', 'imager'],
  inputs: [`${PYTHON_DIST}/python.wasm`, `${PYTHON_DIST}/root`, ...IMAGER_IDENTITY],
  outputs: [`${PYTHON_DIST}/python.image`],
  listOutputs: () => imageFiles('python', PYTHON_DIST),
  expectedSeconds: 15,
  run: (report) => {
    const folders = ['--inputs', `${PYTHON_DIST}/root`, '--out', PYTHON_DIST];
    const options = ['--wasm', `${PYTHON_DIST}/python.wasm`, ...folders, '--name', 'python', '--python'];
    return run(fromRoot(IMAGER), options, { onLine: report });
  },
};

/** The step of the Python guest (packages/python). */
const pythonStep = {
  name: 'python-guest',
  title: 'CPython to WebAssembly, and the standard library',
  needs: [],
  inputs: ['packages/python', 'packages/runner/build', 'packages/runner/engine/shim', 'pnpm-lock.yaml'],
  skip: ['dist', 'README.md', ...NOTICES, ...TESTS],
  outputs: ['packages/python/dist/python.wasm', 'packages/python/dist/root'],
  expectedSeconds: 360,
  run: (report) =>
    run(process.execPath, ['packages/python/build/main.mjs'], { onLine: (line) => report(line.replace(/^\[runner\] /, '')) }),
};

/**
 * Returns all steps, each after the steps that it needs. Steps with the same `lane` run one at a
 * time. `dev` chooses the development build of `native`; the other steps do not depend on `dev`.
 * `sanitize` adds the steps of the sanitized guest, and `python` the steps of the Python guest.
 */
export const steps = ({ dev = false, sanitize = false, python = false } = {}) => {
  // The two steps that call cargo have the same profile in a development build. Cargo locks the
  // folder of a profile.
  const lane = dev ? 'cargo' : undefined;
  return [
    guestStep,
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
    typescript('python', [], []),
    typescript('sidecar', [], [], { bundles: { entries: { index: 'index.js' } } }),
    typescript('sdk', ['runner', 'sidecar'], ['runner', 'sidecar'], { bundles: SDK_BUNDLES }),
    typescript('server', ['sdk'], ['sdk']),
    typescript('benchmarks', ['sdk', 'server'], ['sdk', 'server']),
    {
      name: 'page',
      title: 'web page of the server',
      needs: [],
      inputs: ['packages/server/page', 'packages/server/src/client', 'packages/server/package.json', 'pnpm-lock.yaml'],
      outputs: ['packages/server/dist/ui'],
      listOutputs: () => listFiles(['packages/server/dist/ui']),
      expectedSeconds: 2,
      run: () => run(process.execPath, ['packages/server/page/build.mjs']),
    },
    {
      name: 'notices',
      title: 'licence and notices',
      needs: [],
      inputs: NOTICES,
      outputs: noticeCopies,
      expectedSeconds: 1,
      run: copyNotices,
    },
    ...(sanitize ? sanitizedSteps() : []),
    ...(python ? [pythonStep, pythonImageStep] : []),
  ].map((step) => ({ key: machine, ...step }));
};
