// Tests `check()` with the real compiler, in an app of its own folder.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CheckOptions, check, type Diagnostic } from 'coldframe/check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isLong } from './repetitions.js';

const folderOf = (name: string): string => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));

let folder: string;
let from: string;

/** Makes an app in the folder `name` with links to installed packages. Returns the app's file. */
function makeApp(name: string, packages: Record<string, string>): string {
  const modules = join(folder, name, 'node_modules');
  mkdirSync(join(modules, '@types'), { recursive: true });
  for (const [link, target] of Object.entries(packages)) symlinkSync(target, join(modules, link));
  return join(folder, name, 'app.mjs');
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coldframe-check-'));
  from = makeApp('app', { typescript: folderOf('typescript-5'), '@types/node': folderOf('@types/node') });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const mistakes = async (code: string, options: CheckOptions = {}): Promise<Diagnostic[]> => {
  const { ok, diagnostics } = await check(code, { from, ...options });
  expect(ok).toBe(diagnostics.length === 0);
  return diagnostics;
};

test('accepts correct programs with the globals of Node and of the sandbox', async () => {
  const code = `import { readFile } from 'node:fs/promises';
    import express from 'express';
    const text: string = await readFile('/workspace/a', 'utf8');
    const answer = await fetch('http://localhost/' + text, { signal: AbortSignal.timeout(5) });
    console.log(process.argv, Buffer.from(text), express());
    __return({ status: answer.status, value: await callBinding<number>('weather') });`;
  expect(await mistakes(code)).toEqual([]);
});

test('reports wrong types and unknown names with their positions', async () => {
  expect(await mistakes('const n: number = "text";\nlet x = missing;')).toEqual([
    { code: 'TS2322', message: "Type 'string' is not assignable to type 'number'.", line: 1, column: 7 },
    { code: 'TS2304', message: "Cannot find name 'missing'.", line: 2, column: 9 },
  ]);
});

test('reports mistakes of syntax, also without types', async () => {
  const [mistake] = await mistakes('const = 5;', { types: false });
  expect(mistake).toMatchObject({ code: 'TS1134', line: 1, column: 7 });
  expect(await mistakes('const n: number = "text";', { types: false })).toEqual([]);
  expect(await mistakes('const n: number = 1;', { language: 'javascript' })).toMatchObject([{ code: 'TS8010' }]);
});

test('accepts the file of the app as a URL and as a relative path', async () => {
  expect(await mistakes('1;', { from: pathToFileURL(from), types: false })).toEqual([]);
  expect(await mistakes('1;', { from: pathToFileURL(from).href, types: false })).toEqual([]);
  expect(await mistakes('1;', { from: relative(process.cwd(), from), types: false })).toEqual([]);
});

test('the code reads no file of the machine', async () => {
  writeFileSync(join(folder, 'secret.ts'), 'export const secret = 42 as const;');
  const code = `/// <reference path="${join(folder, 'secret.ts')}" />
    import { secret } from '${join(folder, 'secret.js')}';
    const wrong: 'a text' = secret;`;
  expect(JSON.stringify(await mistakes(code))).not.toContain('42');
});

test('ends a check that computes for too long', async () => {
  const code = `type A<N extends number, T extends 0[] = []> = T['length'] extends N ? T : A<N, [...T, 0]>;
    type B = A<999>; type C = { [K in keyof B]: { [L in keyof B]: [K, L] } }[number][number]; const c: C = 1;`;
  await expect(check(code, { from, timeout: 1 })).rejects.toMatchObject({
    code: 'ERR_CHECK_FAILED',
    reason: 'the check took longer than 1 ms',
  });
});

test.runIf(isLong)('ends a check that needs too much memory', { timeout: 300_000 }, async () => {
  const code = `${'[1],'.repeat(3_000_000)}1`;
  await expect(check(code, { from, types: false, timeout: 240_000 })).rejects.toMatchObject({
    code: 'ERR_CHECK_FAILED',
    reason: expect.stringContaining('out of memory'),
  });
});

test('names a missing package and an unsupported release', async () => {
  const none = makeApp('none', {});
  await expect(check('1', { from: none })).rejects.toMatchObject({ code: 'ERR_PACKAGE_NOT_FOUND', package: 'typescript' });
  await expect(check('1', { from: none })).rejects.toThrow('Run `npm install --save-dev typescript@6` in a folder');
  const untyped = makeApp('untyped', { typescript: folderOf('typescript-5') });
  await expect(check('1', { from: untyped })).rejects.toMatchObject({ code: 'ERR_PACKAGE_NOT_FOUND', package: '@types/node' });
  expect((await check('1', { from: untyped, types: false })).ok).toBe(true);
  const native = makeApp('native', { typescript: folderOf('typescript') });
  await expect(check('1', { from: native })).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED' });
});

test.each([
  [{ language: 'python' }, 'language'],
  [{ types: 1 }, 'types'],
  [{ from: 5 }, 'from'],
  [{ from: '' }, 'from'],
  [{ from: new URL('https://localhost/app.mjs') }, 'from'],
  [{ from: 'https://localhost/app.mjs' }, 'from'],
  [{ from: 'file://elsewhere/app.mjs' }, 'from'],
  [{ timeout: 0 }, 'timeout'],
])('refuses the options %j', async (options, option) => {
  await expect(check('1', options as CheckOptions)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option });
});
