// What the build is made of: for every step what it reads, what it makes, what must be there before, and how it is done.
//
//   guest ──► image      packages/runner/dist   the guest image and its precompiled module
//   imager ─┴► shell     packages/runner/dist   the same with the shell in it
//   native               packages/sidecar/dist  the sidecar's binary and the Node-API addon
//   runner, sidecar ► sdk ► benchmarks          TypeScript
//   notices              packages/*             the licence and the notices, into each package that is published
//
// `imager` and `native` are two calls of cargo on purpose: the imager turns wasmtime's compiler on, and within one call cargo would
// turn it on for the sidecar as well, which must start fast and contain no compiler.

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
const IMAGER = '.build/bin/coldframe-imager';
const SIDECAR = 'packages/sidecar/dist/coldframe-sidecar';
const ADDON = 'packages/sidecar/dist/coldframe.node';

const machine = `${process.platform}-${process.arch}`;

async function buildGuest(report) {
  const onLine = (line) => {
    if (!/: \d+ s$/.test(line)) report(line.replace(/^\[runner\] /, '')); // it tells the time too; ours is enough
  };
  await run(process.execPath, ['packages/runner/build/guest.mjs'], { onLine });
}

async function buildImager(report) {
  // Selected out of the whole workspace, so that crates get the features that all of it asks for, as they do in the tests: otherwise the
  // compiler would be compiled twice.
  const selection = ['--workspace', '--bin', 'coldframe-imager'];
  const folder = await cargoBuild({ packages: ['coldframe-imager'], profile: 'builder', report, selection });
  placeFile(join(folder, 'coldframe-imager'), fromRoot(IMAGER), 0o755);
}

// The imager itself writes beside and renames, the module before the image that names it.
async function makeImage(name, inputs, report) {
  const folders = inputs.flatMap((folder) => ['--inputs', `${RUNNER_DIST}/${folder}`]);
  const options = ['--wasm', `${RUNNER_DIST}/guest.wasm`, ...folders, '--out', RUNNER_DIST, '--name', name];
  await run(fromRoot(IMAGER), options, { onLine: report });
}

async function buildNative(report) {
  const folder = await cargoBuild({ packages: ['coldframe-sidecar', 'coldframe-node'], profile: 'release', report });
  placeFile(join(folder, 'coldframe-sidecar'), fromRoot(SIDECAR), 0o755);
  placeFile(join(folder, 'libcoldframe_node.so'), fromRoot(ADDON), 0o755);
}

/** The files of an image that is made. */
const imageFiles = (name) =>
  listFiles([RUNNER_DIST], ['inputs', 'shell-inputs']).filter((path) =>
    new RegExp(`/${name}(\\.image|-[0-9a-f]+\\.cwasm)$`).test(path),
  );

const PUBLISHED = ['runner', 'sdk', 'sidecar'];
const NOTICES = ['LICENSE', 'NOTICE'];

const noticeCopies = PUBLISHED.flatMap((name) => NOTICES.map((file) => `packages/${name}/${file}`));

async function copyNotices() {
  for (const path of noticeCopies) placeFile(fromRoot(basename(path)), fromRoot(path), 0o644);
}

const typescript = (name, needs, dependencies) => ({
  name,
  title: `TypeScript of packages/${name}`,
  needs,
  inputs: [
    `packages/${name}/src`,
    `packages/${name}/tsconfig.json`,
    `packages/${name}/package.json`,
    'tsconfig.json',
    'pnpm-lock.yaml',
    ...dependencies.map((dependency) => `packages/${dependency}/src`),
  ],
  outputs: [`packages/${name}/dist`],
  listOutputs: () => compiledFiles(`packages/${name}`),
  expectedSeconds: 2,
  run: () => compileTypes(`packages/${name}`),
});

/** All steps, each after those it needs. `lane` names what only one step may use at a time. */
export const steps = () =>
  [
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
      name: 'imager',
      title: 'image builder with the WebAssembly compiler',
      needs: [],
      lane: 'cargo',
      inputs: crateInputs(['coldframe-imager']),
      skip: TESTS,
      outputs: [IMAGER],
      expectedSeconds: 180,
      run: buildImager,
    },
    {
      name: 'native',
      title: 'sidecar and Node-API addon',
      needs: [],
      lane: 'cargo',
      inputs: crateInputs(['coldframe-sidecar', 'coldframe-node']),
      skip: TESTS,
      outputs: [SIDECAR, ADDON],
      expectedSeconds: 120,
      run: buildNative,
    },
    {
      name: 'image',
      title: 'guest image',
      needs: ['guest', 'imager'],
      inputs: [`${RUNNER_DIST}/guest.wasm`, `${RUNNER_DIST}/inputs`, IMAGER],
      outputs: [`${RUNNER_DIST}/guest.image`],
      listOutputs: () => imageFiles('guest'),
      expectedSeconds: 5,
      run: (report) => makeImage('guest', ['inputs'], report),
    },
    {
      name: 'shell',
      title: 'image with the shell',
      needs: ['guest', 'imager'],
      inputs: [`${RUNNER_DIST}/guest.wasm`, `${RUNNER_DIST}/inputs`, `${RUNNER_DIST}/shell-inputs`, IMAGER],
      outputs: [`${RUNNER_DIST}/shell.image`],
      listOutputs: () => imageFiles('shell'),
      expectedSeconds: 8,
      run: (report) => makeImage('shell', ['inputs', 'shell-inputs'], report),
    },
    typescript('runner', [], []),
    typescript('sidecar', [], []),
    typescript('sdk', ['runner', 'sidecar'], ['runner', 'sidecar']),
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
