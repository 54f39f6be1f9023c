// Tests the conversion of the command line to options of the SDK.

import { expect, test } from 'vitest';
import { parse } from '../../src/command/parse.js';
import { policyOf } from '../../src/command/permission-options.js';
import { runtimeOptions, timeoutOf } from '../../src/command/runtime-options.js';
import type { Subcommand } from '../../src/command/subcommand.js';
import { SUBCOMMANDS } from '../../src/command/subcommands.js';

const EXEC = SUBCOMMANDS.find(({ name }) => name === 'exec') as Subcommand;
const parsed = (...words: string[]) => parse(EXEC, words);
const optionsOf = (...words: string[]) => runtimeOptions(parsed(...words));

test('converts every option of a runtime', () => {
  const words = ['--env', 'A=b=c', '--cwd', '/tmp', '--limit', 'memoryBytes=64MiB', '-l', 'profile=hardened', '--tenant', 't'];
  expect(optionsOf(...words, '--mount', '.:/data:ro', '--mount=a:b:/x', '--mount', '/m:/m:overlay')).toEqual({
    env: { A: 'b=c' },
    cwd: '/tmp',
    limits: { memoryBytes: 67_108_864, profile: 'hardened' },
    tenant: 't',
    mounts: [
      { hostPath: '.', guestPath: '/data', readOnly: true, overlay: false },
      { hostPath: 'a:b', guestPath: '/x', readOnly: false, overlay: false },
      { hostPath: '/m', guestPath: '/m', readOnly: false, overlay: true },
    ],
  });
});

test('copies a variable of the environment', () => {
  process.env['COLDFRAME_TEST_VARIABLE'] = 'copied';
  expect(optionsOf('-e', 'COLDFRAME_TEST_VARIABLE').env).toEqual({ COLDFRAME_TEST_VARIABLE: 'copied' });
  delete process.env['COLDFRAME_TEST_VARIABLE'];
});

test('options after the code belong to the program', () => {
  const { flags, operands } = parsed('--timeout', '5', 'code', '--timeout', '-x', '--');
  expect([timeoutOf(parsed('--timeout', '5')), [...flags.keys()], operands]).toEqual([
    { timeout: 5 },
    ['timeout'],
    ['code', '--timeout', '-x', '--'],
  ]);
  expect(parsed('--', '-1').operands).toEqual(['-1']);
});

test.each([
  [['--allow-fs'], { fs: 'allow' }],
  [['--deny-child-process'], { childProcess: 'deny' }],
  [
    ['--allow-fs-read=/a,/b/**'],
    { fs: { default: 'deny', rules: [{ mode: 'allow', operations: ['read'], paths: ['/a', '/b/**'] }] } },
  ],
  [
    ['--deny-env-read=SECRET'],
    { env: { default: 'allow', rules: [{ mode: 'deny', operations: ['read'], patterns: ['SECRET'] }] } },
  ],
  [
    ['--allow-network', '--deny-network-connect=localhost:1'],
    { network: { default: 'allow', rules: [{ mode: 'deny', operations: ['connect'], patterns: ['localhost:1'] }] } },
  ],
  [
    ['--deny-fs-write', '--allow-fs-create-dir=/x'],
    {
      fs: {
        default: 'deny',
        rules: [
          { mode: 'deny', operations: ['write'] },
          { mode: 'allow', operations: ['create_dir'], paths: ['/x'] },
        ],
      },
    },
  ],
])('%j is a policy', (words, policy) => {
  expect(policyOf(parsed(...words))).toEqual(policy);
});

test.each([
  [['--tiemout', '1'], /`--tiemout` in `coldframe exec`.*It is spelled `--timeout`/],
  [['--timeout'], /expected a value: --timeout MS/],
  [['--json=1'], /expected no value, received "1"/],
  [['--limit', 'memory=1'], /`--limit memory`.*It is called `limits.memoryBytes`/],
  [['--limit', 'cpuMs=0'], /`--limit cpuMs`.*expected a whole number of milliseconds from 1/],
  [['--limit', 'cpuMs'], /expected NAME=VALUE, received "cpuMs"/],
  [['--mount', '/a'], /expected HOST:GUEST\[:ro\]/],
  [['--cwd', 'relative'], /`--cwd` in.*expected an absolute guest path/],
  [['--env', 'COLDFRAME_NO_SUCH_VARIABLE'], /expected NAME=VALUE, or the name of a variable/],
  [['--allow-fs-raed'], /It is spelled `--allow-fs-read`/],
  [['--allow-fs-read=relative'], /expected an absolute guest path/],
])('%j is refused', (words, message) => {
  const check = () => optionsOf(...words);
  expect(check).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringMatching(message) }));
});
