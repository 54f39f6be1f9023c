// Tests the build's errors on a machine that lacks a program. The errors name the program and its
// package, and contain no stack.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { root, stateDir } from '../build/paths.mjs';

const bin = join(stateDir, `bin-test-${process.pid}`);

const script = `
  const { cargo } = await import('./scripts/build/cargo.mjs');
  const { runMain } = await import('./scripts/build.mjs');
  await runMain(() => cargo(['tree']));
`;

/** Calls cargo as the build does, with only `programs` (name to shell script) on PATH. */
function callCargo(programs) {
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const options = { cwd: root, env: { PATH: bin, HOME: bin }, encoding: 'utf8', timeout: 15_000 };
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], options);
  return { status, stderr };
}

beforeEach(() => mkdirSync(bin, { recursive: true }));
afterEach(() => rmSync(bin, { recursive: true, force: true }));

test('describes the installation of Rust when cargo is missing', () => {
  const { status, stderr } = callCargo({});
  expect(status).toBe(1);
  expect(stderr).toContain('https://rustup.rs');
  expect(stderr).not.toContain('    at ');
});

test('names the needed version of Rust when cargo is old', () => {
  const { status, stderr } = callCargo({ cargo: 'echo "cargo 1.70.0 (x 2023-01-01)"' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/Rust 1\.\d+ or newer is needed, and this is 1\.70\.0/);
});

test('names the package of a linker when the machine has no linker', () => {
  const { status, stderr } = callCargo({ cargo: 'echo "cargo 99.0.0 (x 2099-01-01)"' });
  expect(status).toBe(1);
  expect(stderr).toContain('apt install gcc');
});

test('shows the last lines and the exit code of a program that fails', () => {
  const { status, stderr } = callCargo({
    cargo: 'if [ "$1" = --version ]; then echo "cargo 99.0.0 (x 2099-01-01)"; else echo "no such crate" >&2; exit 101; fi',
    cc: 'exit 0',
  });
  expect(status).toBe(1);
  expect(stderr).toContain('exit code 101');
  expect(stderr).toContain('no such crate');
});
