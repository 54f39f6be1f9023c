// The package finds the platform package of a machine, and an error states why there is none.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Machine, PLATFORMS, platformFile, thisMachine } from '../src/platform.js';

const PREFIX = '@coldframe/sidecar-';
const root = mkdtempSync(join(tmpdir(), 'coldframe-platform-'));

beforeAll(() => {
  for (const platform of PLATFORMS) {
    mkdirSync(join(root, platform));
    writeFileSync(join(root, platform, 'program'), platform);
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const find = (machine: Machine, installed: readonly string[]) =>
  platformFile(PREFIX, 'program', machine, (name) => {
    const platform = name.slice(PREFIX.length);
    return installed.includes(platform) ? join(root, platform) : undefined;
  });

const machine = (os: string, cpu: string, libc: string): Machine => ({ os, cpu, libc });

test.each([
  ['linux-x64-gnu', machine('linux', 'x64', 'glibc')],
  ['linux-arm64-gnu', machine('linux', 'arm64', 'glibc')],
  ['linux-x64-musl', machine('linux', 'x64', 'musl')],
  ['linux-arm64-musl', machine('linux', 'arm64', 'musl')],
  ['linux-x64-gnu', machine('linux', 'x64', 'unknown')],
])('finds the file of %s', (platform, of) => {
  expect(find(of, PLATFORMS)).toBe(join(root, platform, 'program'));
});

test('names the missing package and the packages of other machines', () => {
  const glibc = machine('linux', 'x64', 'glibc');
  const missing = { code: 'ERR_PLATFORM_PACKAGE', package: '@coldframe/sidecar-linux-x64-gnu', machine: glibc };
  expect(() => find(glibc, [])).toThrow(expect.objectContaining({ ...missing, installed: [] }));
  const installed = ['@coldframe/sidecar-linux-x64-musl'];
  expect(() => find(glibc, ['linux-x64-musl'])).toThrow(expect.objectContaining({ ...missing, installed }));
});

test('names no package for a machine that has none', () => {
  const mac = machine('darwin', 'arm64', 'unknown');
  expect(() => find(mac, [])).toThrow(expect.objectContaining({ code: 'ERR_PLATFORM_PACKAGE', package: '' }));
});

test('a package without the file counts as missing', () => {
  const folderOf = () => root;
  expect(() => platformFile(PREFIX, 'program', machine('linux', 'x64', 'musl'), folderOf)).toThrow(/linux-x64-musl is missing/);
});

test('reads the C library of this machine', () => {
  expect(thisMachine()).toEqual({ os: 'linux', cpu: process.arch, libc: expect.stringMatching(/^(glibc|musl)$/) });
});
