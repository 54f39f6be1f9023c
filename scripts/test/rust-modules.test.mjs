// Tests the layers of the Rust crates and their modules. A crate uses only its listed crates.
// Modules use each other in a circle only around the process, in the kernel. Next:
// rust-modules.mjs, which reads the dependencies.

import { expect, test } from 'vitest';
import { circles, crateArrows, featuresOf, moduleArrows, packagesBelow, packagesCompiledFor } from './rust-modules.mjs';

// Each crate with the crates of the workspace that the crate may use. Cargo refuses circular
// dependencies, and this table refuses new dependencies.
const LAYERS = {
  abi: [],
  ids: [],
  error: ['ids'],
  sys: [],
  panics: [],
  'edge-link': [],
  // The program of the crate uses the library of the crate.
  edge: ['edge', 'edge-link', 'egress', 'panics', 'secrets', 'wall'],
  egress: ['error'],
  fair: ['panics'],
  secrets: ['egress'],
  kernel: ['abi', 'crypto', 'error', 'fair', 'ids', 'panics', 'sys'],
  memory: ['abi', 'error', 'ids', 'panics', 'sys'],
  vm: ['abi', 'error', 'ids', 'kernel', 'memory', 'panics', 'sys'],
  core: ['abi', 'edge-link', 'egress', 'error', 'fair', 'ids', 'kernel', 'memory', 'panics', 'secrets', 'sys', 'vm'],
};

test('each crate uses only the crates below it', () => {
  const arrows = crateArrows();
  for (const [crate, allowed] of Object.entries(LAYERS)) {
    const above = [...(arrows.get(crate) ?? ['a crate with this name'])].filter((name) => !allowed.includes(name));
    expect(above, crate).toEqual([]);
  }
});

test('the kernel is built without wasmtime', () => {
  const packages = packagesBelow('coldframe-kernel');
  expect(packages.size).toBeGreaterThan(20);
  expect([...packages].filter((name) => /wasmtime|cranelift|wasmparser/.test(name))).toEqual([]);
  expect([...packagesBelow('coldframe-vm')], 'the reader of Cargo.lock').toContain('wasmtime');
});

test('the tests use the wasmtime that the build has compiled', () => {
  const [built, tested] = [featuresOf('normal,build'), featuresOf('normal,build,dev')];
  const below = [...packagesCompiledFor('wasmtime')];
  expect(below.length).toBeGreaterThan(10);
  for (const name of below) expect(tested.get(name), name).toEqual(built.get(name));
  expect(built.get('rustix'), 'the reader of features').toContain('fs');
});

test('no two modules of core use each other', () => {
  expect(circles(moduleArrows('core'))).toEqual([]);
});

// A process owns its descriptors, files and signals, and the system calls of each folder have a
// process as a parameter. All other modules of the kernel are below or above these modules. The
// list may only become shorter.
const KERNEL_CIRCLE = 'bindings caller crypto descriptors fs host_calls kernel net process processes';

test('no two modules of the kernel use each other, except around the process', () => {
  expect(circles(moduleArrows('kernel'))).toEqual([KERNEL_CIRCLE]);
});

test('the reader of modules finds a circle', () => {
  const arrows = new Map(Object.entries({ a: new Set(['b']), b: new Set(['c']), c: new Set(['b']) }));
  expect(circles(arrows)).toEqual(['b c']);
});
