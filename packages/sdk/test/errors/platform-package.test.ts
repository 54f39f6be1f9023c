// The message of a missing platform package names the package, the machine, the cause and the
// remedy.

import { expect, test } from 'vitest';
import { platformPackage } from '../../src/errors/make.js';

const MACHINE = { os: 'linux', cpu: 'x64', libc: 'glibc' };
const PACKAGE = '@coldframe/sidecar-linux-x64-gnu';
const make = (facts: { package: string; installed: string[] }) =>
  platformPackage({ ...facts, ...MACHINE }, ['linux-x64-gnu', 'linux-arm64-gnu'], undefined);

test('names the package, the machine and the option that leaves the package out', () => {
  const error = make({ package: PACKAGE, installed: [] });
  expect(error).toMatchObject({ code: 'ERR_PLATFORM_PACKAGE', package: PACKAGE, ...MACHINE, installed: [] });
  for (const part of [PACKAGE, 'os linux, cpu x64, libc glibc', '--omit=optional', 'npm install --include=optional']) {
    expect(error.message).toContain(part);
  }
});

test('names an installed package of another machine as the cause', () => {
  const { message } = make({ package: PACKAGE, installed: ['@coldframe/sidecar-linux-x64-musl'] });
  expect(message).toContain('For another machine, @coldframe/sidecar-linux-x64-musl is installed');
  expect(message).not.toContain('--omit=optional');
});

test('lists the platforms when no package fits the machine', () => {
  const { message } = make({ package: '', installed: [] });
  const machine = 'Coldframe has no package for this machine (os linux, cpu x64, libc glibc).';
  expect(message).toBe(`${machine} It has packages for linux-x64-gnu, linux-arm64-gnu.`);
});
