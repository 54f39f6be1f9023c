// Tests the conformance runner on a folder of small files: the selection of files, results, stored
// results, and reports.

import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openCeiling } from '../conformance/ceiling.mjs';
import { chosen, flagsOf, listFiles, originOf } from '../conformance/files.mjs';
import { readOptions } from '../conformance/options.mjs';
import { runAll } from '../conformance/pool.mjs';
import { formatReport, groupRows, groupTable, mergeReport, needOpenssl, withoutFiles } from '../conformance/report.mjs';
import { reasonOf, resultOf } from '../conformance/result.mjs';
import { openState } from '../conformance/state.mjs';

const FILES = {
  'test-path-pass.js': "require('../common');",
  'test-path-skip.js': "console.log('1..0 # Skipped: no reason');",
  'test-path-fail.js': "throw new TypeError('as expected');",
  'test-path-flags.js': '// Flags: --title=conform\nif (process.title !== "conform") process.exit(3);',
  'test-path-fixture.js': "require('fs').readFileSync(require('../common').fixture);",
  'test-path-temporary.js': "require('fs').writeFileSync(require('../common').tmpDir, '');",
  'test-fs-endless.js': 'setInterval(() => {}, 1000);',
  'test-worker-other.js': '',
  'not-a-test.js': '',
};

let folder;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'conformance-test-'));
  for (const name of ['parallel', 'common', 'fixtures']) mkdirSync(join(folder, name));
  writeFileSync(
    join(folder, 'common', 'index.js'),
    "exports.tmpDir = '/tmp/node-test'; exports.fixture = '/test/fixtures/x.txt';",
  );
  writeFileSync(join(folder, 'fixtures', 'x.txt'), 'x');
  for (const [name, source] of Object.entries(FILES)) writeFileSync(join(folder, 'parallel', name), source);
});

afterAll(() => rmSync(folder, { recursive: true }));

test('selects files by groups and parts of names', () => {
  const names = (filters) => listFiles(folder, filters).map(({ name }) => name);
  expect(names(['fs'])).toEqual(['test-fs-endless.js']);
  expect(names(['path-f'])).toEqual(['test-path-fail.js', 'test-path-fixture.js', 'test-path-flags.js']);
  expect(names([])).not.toContain('test-worker-other.js');
  expect(chosen('not-a-test.js', ['not-a-test'])).toBe(false);
});

test('reads the flags of all Flags lines', () => {
  expect(flagsOf("// Flags: --a --b=1\n'use strict';\n// Flags: --c\n")).toEqual(['--a', '--b=1', '--c']);
  expect(flagsOf("'// Flags: --no'")).toEqual([]);
});

test('refuses wrong options and a folder without tests', () => {
  expect(() => listFiles(join(folder, 'nowhere'), [])).toThrow(/nowhere is no folder of Node's tests/);
  expect(() => readOptions([])).toThrow(/--node-tests is missing/);
  expect(() => readOptions(['--node-tests', '.', '--jobs', 'x'])).toThrow(/--jobs: expected a whole number/);
});

test.each([
  ['test-path-pass.js', { result: 'pass', reason: '' }],
  ['test-path-skip.js', { result: 'skip', reason: 'no reason' }],
  ['test-path-fail.js', { result: 'fail', reason: 'TypeError: as expected' }],
  ['test-path-flags.js', { result: 'pass', reason: '' }],
  ['test-path-fixture.js', { result: 'pass', reason: '' }],
  ['test-path-temporary.js', { result: 'pass', reason: '' }],
  ['test-fs-endless.js', { result: 'timeout', reason: 'it did not end' }],
])('returns the result of %s in the real Node', async (name, expected) => {
  const [file] = listFiles(folder, [name]);
  const ceiling = openCeiling(process.execPath, folder);
  const { ms, ...found } = await ceiling.run(file, name.includes('endless') ? 500 : 10_000);
  ceiling.close();
  expect(found).toEqual(expected);
  expect(ms).toBeGreaterThan(0);
});

test('returns a reason for an end without an exit', () => {
  expect(resultOf({ exitCode: null, signal: 'SIGSEGV' })).toEqual({ result: 'fail', reason: 'ended by SIGSEGV' });
  expect(resultOf({ error: { code: 'ERR_MEMORY_LIMIT', message: 'too much' } }).reason).toBe('ERR_MEMORY_LIMIT: too much');
  expect(resultOf({ exitCode: 1, stdout: '1..0 # Skipped: x' }).result).toBe('fail');
});

test('returns the error as the reason, not the code around the error', () => {
  const stderr =
    "/node/test/x.js:1\nthrow new Error('x');\n^\n\nAssertionError [ERR_ASSERTION]: 1 !== 2\n    at x (y:1:1)\n\nNode.js v24\n";
  expect(reasonOf(stderr)).toBe('AssertionError [ERR_ASSERTION]: 1 !== 2');
});

test('keeps results for the next run, except an incomplete line', () => {
  const path = join(folder, 'state.jsonl');
  openState(path).set('a', { result: 'pass', reason: '', ms: 1 });
  appendFileSync(path, '{"key":"b","resu');
  const second = openState(path);
  expect([second.get('a')?.result, second.get('b')]).toEqual(['pass', undefined]);
  second.set('c', { result: 'fail', reason: 'x', ms: 2 });
  expect(openState(path).get('c')?.result).toBe('fail');
  expect(openState(path, { fresh: true }).get('a')).toBeUndefined();
});

test('runs all files, at most as many at once as requested', async () => {
  const seen = [];
  let now = 0;
  let most = 0;
  await runAll('test', [1, 2, 3, 4, 5], 2, async (item) => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setTimeout(resolve, 5));
    now--;
    seen.push(item);
  });
  expect([seen.sort(), most]).toEqual([[1, 2, 3, 4, 5], 2]);
});

const line = (result, ceiling) => ({ result, ceiling, reason: '', ms: 1 });

test('writes a sorted report with a line per file, and keeps files that did not run', () => {
  const before = {
    node: '24',
    startProcesses: [],
    files: { 'test-fs-b.js': line('pass', 'pass'), 'test-fs-gone.js': line('pass', 'pass') },
  };
  const after = mergeReport(before, { 'test-fs-a.js': line('fail', 'pass') }, (name) => !name.includes('gone'));
  expect(Object.keys(after.files)).toEqual(['test-fs-a.js', 'test-fs-b.js']);
  const text = formatReport({ ...after, startProcesses: ['test-fs-a.js'] });
  expect(JSON.parse(text).files).toEqual(after.files);
  expect(text.split('\n').filter((row) => row.includes('"result"'))).toHaveLength(2);
});

test('counts only files that pass in Node', () => {
  const files = {
    'test-fs-a.js': line('pass', 'pass'),
    'test-fs-b.js': line('fail', 'pass'),
    'test-fs-c.js': line('pass', 'fail'),
    'test-fs-d.js': line('pass', 'skip'),
    'test-fs-e.js': line('skip', 'pass'),
  };
  const report = { files, startProcesses: ['test-fs-b.js'] };
  expect(groupRows(report)).toEqual([{ group: 'fs', tests: 5, ceiling: 3, passes: 1, startingProcesses: 1 }]);
  expect(groupTable(report)).toContain('| fs | 5 | 3 | 1 | 33.3 % | 1 | 50 % |');
});

test('counts the files that need OpenSSL apart, unless they pass', () => {
  const files = {
    'test-tls-a.js': line('pass', 'pass'),
    'test-tls-b.js': line('fail', 'pass'),
    'test-tls-c.js': line('fail', 'fail'),
    'test-tls-d.js': line('fail', 'pass'),
  };
  const table = [
    ['engines', ['test-tls-a.js', 'test-tls-b.js', 'test-tls-c.js']],
    ['others', ['test-tls-gone.js']],
  ];
  expect(needOpenssl({ files }, table)).toEqual([{ feature: 'engines', files: ['test-tls-b.js'] }]);
  expect(withoutFiles({ files }, 'tls', ['test-tls-b.js'])).toEqual({ ceiling: 2, passes: 1 });
});

test('names the version and the digest of the tests', () => {
  const before = originOf(folder, '24.1.2');
  expect(before).toEqual({ version: '24.1.2', digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
  expect(originOf(folder).version).toBe('unknown');
  const sources = mkdtempSync(join(tmpdir(), 'conformance-sources-'));
  for (const name of ['src', 'test/parallel', 'test/common']) mkdirSync(join(sources, name), { recursive: true });
  const header = '#define NODE_MAJOR_VERSION 24\n#define NODE_MINOR_VERSION 3\n#define NODE_PATCH_VERSION 0\n';
  writeFileSync(join(sources, 'src/node_version.h'), header);
  const other = originOf(join(sources, 'test'));
  expect(other.version).toBe('24.3.0');
  expect(other.digest).not.toBe(before.digest);
  rmSync(sources, { recursive: true });
});

test('writes a report that can be parsed', () => {
  const path = join(folder, 'report.json');
  writeFileSync(path, formatReport({ node: '24.21.0', startProcesses: [], files: { 'test-fs-a.js': line('pass', 'pass') } }));
  expect(JSON.parse(readFileSync(path, 'utf8')).node).toBe('24.21.0');
});
