// Tests the runner of the suites of E2B's clients on small reports, and compares the page with the
// kept report.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readOptions } from '../e2b/options.mjs';
import { pageOf, pagePath } from '../e2b/page.mjs';
import { resultsOf } from '../e2b/python.mjs';
import { reasonOf } from '../e2b/reasons.mjs';
import { groupOf, mergeReport, readReport, resultOf } from '../e2b/report.mjs';

test('the page has the state of the report', () => {
  expect(readFileSync(pagePath, 'utf8')).toBe(pageOf(readReport()));
});

test('a report in the form of JUnit has passed, failed and skipped tests', () => {
  const xml = `<testsuite><testcase classname="tests.sync.test_a" name="test_one" time="1"/>
<testcase classname="tests.sync.test_a" name="test_two[&lt;x&gt;]" time="1">
<failure message="boot_id &amp; more">long</failure></testcase>
<testcase classname="tests.sync.test_a" name="test_three"><skipped message="no">x</skipped></testcase></testsuite>`;
  expect(resultsOf(xml)).toEqual([
    { file: 'tests/sync/test_a.py', name: 'test_one', status: 'passed', message: '' },
    { file: 'tests/sync/test_a.py', name: 'test_two[<x>]', status: 'failed', message: expect.stringContaining('boot_id & more') },
    { file: 'tests/sync/test_a.py', name: 'test_three', status: 'skipped', message: '' },
  ]);
});

test('a test that passes without a server is offline, and all others are live', () => {
  const of = (name, status, message = '') => ({ file: 'tests/sandbox/files/a.test.ts', name, status, message });
  const offline = [of('one', 'passed'), of('two', 'failed'), of('three', 'failed'), of('four', 'skipped')];
  const live = [of('one', 'failed'), of('two', 'passed'), of('three', 'failed', 'port is not open'), of('four', 'skipped')];
  expect(resultOf({ name: 'js', title: 'JavaScript' }, { e2b: '1' }, offline, live)).toEqual({
    name: 'js',
    title: 'JavaScript',
    versions: { e2b: '1' },
    offline: 1,
    skipped: 1,
    live: { all: 2, passed: 1 },
    groups: [{ group: 'sandbox/files', all: 2, passed: 1 }],
    failures: [{ file: 'tests/sandbox/files/a.test.ts', name: 'three', reason: 'needs the port of the interpreter' }],
  });
});

test('groups are folders of tests, without the kind of the Python client', () => {
  expect(['tests/api/kill.test.ts', 'tests/client.test.ts'].map(groupOf)).toEqual(['api', 'client']);
  expect(['tests/sync/sandbox_sync/files/test_a.py', 'tests/async/api_async/test_b.py'].map(groupOf)).toEqual([
    'sandbox/files',
    'api',
  ]);
});

test('an unknown failure has the first line of its message as reason', () => {
  const failure = { file: 'tests/x.test.ts', name: 'x', message: '\nfirst | line\nsecond' };
  expect(reasonOf(failure)).toBe('first \\| line');
});

test('a run replaces the results of its suites only', () => {
  const suites = [{ name: 'a' }, { name: 'b', old: true }];
  expect(mergeReport({ suites }, [{ name: 'b' }])).toEqual({ suites: [{ name: 'a' }, { name: 'b' }] });
});

test('wrong options are refused', () => {
  expect(() => readOptions([])).toThrow('--tests is missing');
  expect(() => readOptions(['--tests', 'x', '--jobs', '0'])).toThrow('--jobs');
  expect(() => readOptions(['--unknown'])).toThrow('--unknown');
});
