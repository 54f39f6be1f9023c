// The sidecar's program can be run after an installer has dropped its mode.

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { runnable } from '../src/runnable.js';

const root = mkdtempSync(join(tmpdir(), 'coldframe-runnable-'));
const program = join(root, 'program');

beforeEach(() => {
  writeFileSync(program, '#!/bin/sh\necho ran\n');
  chmodSync(program, 0o644);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const modeOf = (path: string) => statSync(path).mode & 0o777;

test('returns a program that may be run unchanged', () => {
  chmodSync(program, 0o750);
  expect(runnable(program)).toBe(program);
  expect(modeOf(program)).toBe(0o750);
});

test('adds the permission to run to a program without it', () => {
  expect(runnable(program)).toBe(program);
  expect(modeOf(program)).toBe(0o755);
  expect(execFileSync(program, { encoding: 'utf8' })).toBe('ran\n');
});

/** Refuses as a read-only file system does. */
function readOnly(path: string): never {
  throw Object.assign(new Error(`EROFS: read-only file system, chmod '${path}'`), { code: 'EROFS' });
}

test('copies a program whose mode cannot be changed into a folder of this user', () => {
  const copy = runnable(program, readOnly);
  expect(copy).not.toBe(program);
  expect(modeOf(program)).toBe(0o644);
  expect(modeOf(copy)).toBe(0o700);
  expect(modeOf(dirname(copy))).toBe(0o700);
  expect(execFileSync(copy, { encoding: 'utf8' })).toBe('ran\n');
  expect(runnable(program, readOnly), 'a second call').toBe(copy);
  rmSync(dirname(copy), { recursive: true });
});

test('removes the copy when the process exits', () => {
  const script = `
    const { runnable } = await import(${JSON.stringify(new URL('../dist/runnable.js', import.meta.url).href)});
    console.log(runnable(${JSON.stringify(program)}, () => { throw new Error('EROFS'); }));`;
  const copy = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).trim();
  expect(copy).toContain('coldframe-program-');
  expect(existsSync(copy)).toBe(false);
});
