// The released sidecar has no code of the tests (`crates/wall/src/stand_in.rs`,
// `crates/panics/src/stand_in.rs`).

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SIDECAR = fileURLToPath(new URL('../dist/coldframe-sidecar', import.meta.url));

test('the sidecar contains no stand-in for an escaped guest or a defect', () => {
  const bytes = readFileSync(SIDECAR);
  expect(bytes.includes('--channel-fd'), 'the reader of the binary').toBe(true);
  const found = ['all attempts made', 'reads a file of the host', 'panic-at:', 'stand-in'].filter((text) => bytes.includes(text));
  expect(found).toEqual([]);
  const { status, stderr } = spawnSync(SIDECAR, ['--stand-in', '/tmp'], { encoding: 'utf8', env: {} });
  expect([status, stderr]).toEqual([2, expect.stringContaining('--stand-in')]);
});
