// Each published package contains the intended files, and its manifest is one that npm can install.
// publint and "are the types wrong" find no fault in the packages.

import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { beforeAll, expect, test } from 'vitest';
import { listFiles } from '../build/inputs.mjs';
import { fromRoot } from '../build/paths.mjs';
import { SIDECAR_PLATFORMS } from '../pack/platforms.mjs';
import { packAll } from '../pack.mjs';
import { packedPackages } from './packed.mjs';
import { readJson } from './tree.mjs';

const MB = 1_000_000;
/** The edge process had 1.34 MB when the bound was set. */
const EDGE_SIZE = 4 * MB;
/** The tarball of the server. The page has the terminal emulator. */
const SERVER_SIZE = 0.4 * MB;
const PACKING_MS = 240_000;

const { version } = readJson('packages/sdk/package.json');

/** @type {Map<string, Awaited<ReturnType<typeof packedPackages>>[number]>} */
let packages;

beforeAll(async () => {
  packages = new Map((await packedPackages()).map((each) => [each.manifest.name, each]));
}, PACKING_MS);

const find = (pattern) => [...packages.values()].filter(({ manifest }) => pattern.test(manifest.name));
const pathsOf = ({ entries }) => entries.map(({ path }) => path).sort();

/** Returns the declarations that `tsc` makes of the sources of a package. */
const declarations = (name) =>
  listFiles([`packages/${name}/src`])
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `dist/${path.slice(`packages/${name}/src/`.length, -'.ts'.length)}.d.ts`);

const COMMON = ['LICENSE', 'NOTICE', 'README.md', 'package.json'];

// The build ends each bundle with a comment that names the packages in the bundle.
test('NOTICE has every package that the bundles of coldframe and the page of the server contain', () => {
  const bundles = listFiles(['packages/sdk/dist', 'packages/server/dist/ui']).filter((path) => /\.(js|css)$/.test(path));
  const names = bundles.flatMap((path) =>
    [...readFileSync(fromRoot(path), 'utf8').matchAll(/^\/[/*] Contains (.+?)( \*\/)?$/gm)].flatMap(([, list]) =>
      list.split(', '),
    ),
  );
  const notice = readFileSync(fromRoot('NOTICE'), 'utf8');
  expect(names).toEqual(expect.arrayContaining(['@modelcontextprotocol/sdk', '@xterm/xterm', 'acorn', 'preact', 'zod']));
  expect([...new Set(names)].filter((name) => !new RegExp(`^ +(.*, )?${name}[ ,]`, 'm').test(notice))).toEqual([]);
});

test('packs the main packages and the platform packages of this machine', () => {
  expect(find(/^(coldframe|@coldframe\/(python|runner|server|sidecar))$/)).toHaveLength(5);
  expect(find(/^@coldframe\/runner-linux-/).length).toBeGreaterThan(0);
  expect(find(/^@coldframe\/sidecar-linux-/).length).toBeGreaterThan(0);
});

test('packs only the bundles and the declarations into coldframe', () => {
  const chunks = listFiles(['packages/sdk/dist/chunks']).map((path) => path.slice('packages/sdk/'.length));
  const declared = declarations('sdk').filter((path) => !path.startsWith('dist/command/'));
  const bundles = ['index', 'check', 'check-worker', 'command', 'mcp', 'secure-exec'].map((name) => `dist/${name}.js`);
  expect(pathsOf(packages.get('coldframe'))).toEqual([...COMMON, ...bundles, ...chunks, ...declared].sort());
});

test('packs the modules, the declarations and the page into @coldframe/server', () => {
  const modules = declarations('server').flatMap((path) => [path, path.replace(/\.d\.ts$/, '.js')]);
  const page = ['icon.svg', 'index.html', 'page.css', 'page.js'].map((name) => `dist/ui/${name}`);
  const packed = packages.get('@coldframe/server');
  expect(pathsOf(packed)).toEqual([...COMMON, ...modules, ...page].sort());
  expect(statSync(packed.path).size).toBeLessThanOrEqual(SERVER_SIZE);
});

test.each(['python', 'runner', 'sidecar'])('packs only the bundle and the declarations into @coldframe/%s', (name) => {
  expect(pathsOf(packages.get(`@coldframe/${name}`))).toEqual([...COMMON, 'dist/index.js', ...declarations(name)].sort());
});

test('packs the programs and the addon into the platform packages of the sidecar', () => {
  for (const each of find(/^@coldframe\/sidecar-linux-/)) {
    const native = ['coldframe-edge', 'coldframe-sidecar', 'coldframe.node'];
    expect(pathsOf(each), each.manifest.name).toEqual([...COMMON, ...native].sort());
    const program = each.entries.find(({ path }) => path === 'coldframe-sidecar');
    expect(program.mode).toBe('-rwxr-xr-x');
    expect(program.size).toBeLessThanOrEqual(6.5 * MB);
    const edge = each.entries.find(({ path }) => path === 'coldframe-edge');
    expect(edge.mode).toBe('-rwxr-xr-x');
    expect(edge.size).toBeLessThanOrEqual(EDGE_SIZE);
    expect(each.manifest.publishConfig.executableFiles).toEqual(['coldframe-edge', 'coldframe-sidecar']);
  }
});

test('packs the images and one precompiled module into the platform packages of the runner', () => {
  for (const each of find(/^@coldframe\/runner-linux-/)) {
    const rest = pathsOf(each).filter((path) => !COMMON.includes(path));
    expect(rest.map((path) => path.replace(/[0-9a-f]{16}/, 'HASH'))).toEqual(['guest-HASH.cwasm', 'guest.image', 'shell.image']);
    expect(each.entries.find(({ path }) => path === 'shell.image').size).toBeLessThanOrEqual(18.5 * MB);
  }
});

test('packs the image, one precompiled module and the library into the platform packages of Python', () => {
  for (const each of find(/^@coldframe\/python-linux-/)) {
    const rest = pathsOf(each).filter((path) => !COMMON.includes(path) && !path.startsWith('root/'));
    expect(rest.map((path) => path.replace(/[0-9a-f]{16}/, 'HASH'))).toEqual(['python-HASH.cwasm', 'python.image']);
    const library = listFiles(['packages/python/dist/root']).map((path) => path.slice('packages/python/dist/'.length));
    expect(pathsOf(each).filter((path) => path.startsWith('root/'))).toEqual(library.sort());
    expect(library).toContain('root/usr/lib/python3.13/LICENSE.txt');
  }
});

test('every dependency of a packed manifest has an exact version', () => {
  const wanted = [...packages.values()].flatMap(({ manifest }) =>
    Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies }),
  );
  expect(wanted.length).toBeGreaterThan(5);
  expect(wanted.filter(([, range]) => !/^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(range))).toEqual([]);
  expect(wanted.filter(([name, range]) => /^@coldframe\//.test(name) && range !== version)).toEqual([]);
});

test('a package names Node neither as a dependency nor as a program', () => {
  for (const { manifest } of packages.values()) {
    const names = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
    expect(names.filter((name) => /^node-|pinned-node/.test(name))).toEqual([]);
    expect(Object.keys(manifest.bin ?? {})).toEqual(manifest.name === 'coldframe' ? ['coldframe'] : []);
    expect(manifest).not.toHaveProperty('scripts');
    expect(manifest).not.toHaveProperty('devDependencies');
  }
});

test('@coldframe/sidecar has one optional dependency for each platform', () => {
  const { manifest } = packages.get('@coldframe/sidecar');
  const names = SIDECAR_PLATFORMS.map(({ name }) => `@coldframe/sidecar-${name}`);
  expect(Object.keys(manifest.optionalDependencies)).toEqual(names);
});

test('every package names its repository, its access and its provenance', () => {
  for (const { manifest } of packages.values()) {
    expect(manifest.repository).toMatchObject({ type: 'git', directory: expect.stringMatching(/^packages\//) });
    expect(manifest.publishConfig).toMatchObject({ access: 'public', provenance: true });
  }
});

test('the entries of a tarball have one time and one owner', () => {
  for (const { entries } of packages.values()) {
    expect(new Set(entries.map(({ owner }) => owner))).toEqual(new Set(['0/0']));
    expect(new Set(entries.map(({ modified }) => modified)).size).toBe(1);
  }
});

// Tarballs from elsewhere may have been made by another release of npm.
test.skipIf(process.env.COLDFRAME_PACKAGES)('packs equal files into an equal tarball', { timeout: PACKING_MS }, async () => {
  const out = mkdtempSync(join(tmpdir(), 'coldframe-packed-'));
  try {
    const [{ path }] = await packAll({ out, only: ['@coldframe/sidecar'] });
    expect(readFileSync(path)).toEqual(readFileSync(packages.get('@coldframe/sidecar').path));
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
});

test('the tarballs of one machine have at most 22 MB together', () => {
  const here = [...find(/^(coldframe|@coldframe\/(runner|sidecar))$/), find(/\/runner-linux-/)[0], find(/\/sidecar-linux-/)[0]];
  const total = here.reduce((sum, { path }) => sum + statSync(path).size, 0);
  expect(total).toBeLessThanOrEqual(22 * MB);
});

test('publint finds no fault', async () => {
  for (const { path, manifest } of packages.values()) {
    const { buffer } = new Uint8Array(readFileSync(path));
    const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
    expect(
      messages.map((message) => formatMessage(message, pkg)),
      manifest.name,
    ).toEqual([]);
  }
});

// A CommonJS module cannot require the packages in every supported Node, and the types say so. The
// tool calls this profile "esm-only".
const ESM_ONLY = ['node16-esm', 'bundler'];

test('the types of the main packages resolve for ES modules and bundlers', async () => {
  for (const { path, manifest } of find(/^(coldframe|@coldframe\/(python|runner|server|sidecar))$/)) {
    const { problems } = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(path))));
    const relevant = problems.filter(({ resolutionKind }) => resolutionKind === undefined || ESM_ONLY.includes(resolutionKind));
    expect(relevant, manifest.name).toEqual([]);
  }
});
