// Tests the tables of options against independent schemas, and the text of every error message.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { CALLS, checkGivenOptions, checkOptions, type OptionCall } from '../../src/options/check.js';
import { LIMITS } from '../../src/options/limits.js';
import { SCHEMAS } from './schemas.js';

const TESTED = Object.keys(SCHEMAS) as (keyof typeof SCHEMAS)[];
const NAMES = [
  'env cwd args stdin timeout signal onStdout onStderr explainLimits process limits sidecar',
  'onBootTiming inlineBudgetMs workers warmSlots maxRuntimes spinUs walls',
  'snapshot tenant name labels store settle snapshots directory maxBytes memoryBytes',
  'bindings files mounts nodeModules python recursive followSymlinks memoryBytes timeoutMs',
  'constructor toString hasOwnProperty __proto__',
  'idle',
].flatMap((names) => names.split(' '));

// Generates values that are correct for one option and wrong for another option, and values at the
// bounds.
const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    undefined,
    null,
    true,
    '',
    '/',
    '/a b',
    'relative',
    '/nul\0',
    'nul\0',
    'half\ud800',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1n,
  ),
  fc.constantFrom(-1, 0, 0.5, 1, 1_000, 1_000.5, 2_147_483_647, 2_147_483_648, 2_147_483_649, 2 ** 53),
  fc.constantFrom(
    [],
    ['a', 'b'],
    ['a\0'],
    [1],
    {},
    { A: '1' },
    { 'A=B': '1' },
    { '': '1' },
    { A: 1 },
    { A: 'x\0' },
    { A: undefined },
    { '/a': 'text', '/b': new Uint8Array(1) },
    { '/a': 1 },
    { a: 'text' },
    { packages: ['requests', 'flask>=3,<4', './a/x.whl'] },
    { packages: ['--pre'] },
    { packages: ['./folder'] },
    { packages: ['a @ https://example.com/a.whl'], indexUrl: 'http://127.0.0.1:1/simple' },
    { packages: 'requests' },
    { noBinary: ['markupsafe'] },
    { noBinary: [':all:'] },
    { requirements: 'requirements.txt', extraIndexUrls: ['https://example.com/simple'] },
    { indexUrl: 'ftp://example.com' },
    { extraIndexUrls: ['https://'] },
    { requirements: '' },
    [{ guestPath: '/a', hostPath: 'b' }],
    [{ guestPath: '/a', hostPath: 'b', readOnly: false }],
    [{ guestPath: '/a', hostPath: 'b', overlay: true }],
    [{ guestPath: '/a', hostPath: 'b', overlay: 'yes' }],
    [{ guestPath: '/a', hostPath: '' }],
    [{ guestPath: 'a', hostPath: 'b' }],
    [{ guestPath: '/a' }],
    [{ guestPath: '/a', hostPath: 'b', readOnly: 1 }],
    [{ guestPath: '/a', hostPath: 'b', ro: true }],
    { hostPath: 'b' },
    { hostPath: 'b', guestPath: '/a' },
    { guestPath: '/a' },
    { fs: 'deny', env: 'allow' },
    { afterMs: 1, action: 'pause' },
    { afterMs: 1, action: 'dispose', onError: () => {} },
    { afterMs: 1, action: 'pause', onError: undefined },
    { afterMs: 0, action: 'pause' },
    { afterMs: 1 },
    { action: 'pause' },
    { afterMs: 1, action: 'sleep' },
    { afterMs: 1, action: 'pause', after: 1 },
    { fs: 'no' },
    { net: 'allow' },
    { fs: { rules: [] } },
    { fs: { default: 'allow', rules: [{ mode: 'deny', operations: ['read'], paths: ['/a', '**/b', '**'] }] } },
    { fs: { default: 'allow', rules: [{ mode: 'deny', operations: ['spawn'] }] } },
    { fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['a'] }] } },
    { fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/a/../b'] }] } },
    { fs: { default: 'allow', rules: [{ mode: 'deny', patterns: ['/a'] }] } },
    { fs: { default: 'allow' } },
    { network: { rules: [{ mode: 'deny', patterns: ['localhost:80'] }] } },
    { network: { rules: [{ mode: 'deny', patterns: [''] }] } },
    { network: { rules: [{ mode: 'deny', paths: ['/a'] }] } },
    { network: { rules: {} } },
    { env: { default: 1, rules: [] } },
    { env: [] },
  ),
  fc.dictionary(
    fc.constantFrom('a', 'weather', '1a', 'a b'),
    fc.record(
      {
        description: fc.constantFrom('text', 1),
        inputSchema: fc.constantFrom(true, {}, { type: 'object' }, z.string(), 'object', [], new Map()),
        handler: fc.constantFrom(() => 1, undefined, {}),
        timeoutMs: fc.constantFrom(undefined, 0, 1, 300_000, 300_001),
        maxConcurrency: fc.constantFrom(1, 1_024, 1_025, 1.5),
        maxInputBytes: fc.constantFrom(1, 16_777_216, 16_777_217),
        command: fc.constantFrom(true, false, 1),
        commandAliases: fc.constantFrom([], ['a'], ['/a'], Array(16).fill('a'), 'a'),
        examples: fc.constantFrom(
          [],
          [{ input: 1 }],
          [{ description: 'x', input: {} }],
          [{ description: 1, input: 1 }],
          [{}],
          {},
        ),
        unknown: fc.constant(1),
      },
      { requiredKeys: ['description', 'inputSchema'], noNullPrototype: true },
    ),
    { maxKeys: 2, noNullPrototype: true },
  ),
  fc.constantFrom(
    () => {},
    { pid: 7, ended: Promise.resolve() },
    { pid: 7 },
    new AbortController().signal,
    Buffer.from('x'),
    new Uint8Array(1),
    new Uint16Array(1),
    new Date(),
    new Map(),
  ),
  fc.dictionary(
    fc.constantFrom('profile', 'cpu', ...Object.keys(LIMITS)),
    fc.constantFrom(undefined, -1, 0, 1, 4_096, 2 ** 31, 2 ** 32, '1', 'default', 'hardened'),
  ),
);
const options = fc.oneof(
  { weight: 20, arbitrary: fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 3, noNullPrototype: true }) },
  { weight: 1, arbitrary: value },
);

/** Checks the options `given` of a call. Returns the error, or `undefined` for correct options. */
function errorOf(call: OptionCall, given: unknown): unknown {
  try {
    checkGivenOptions(call, given);
    return undefined;
  } catch (error) {
    return error;
  }
}

const isAccepted = (call: OptionCall, given: unknown): boolean => errorOf(call, given) === undefined;

test('accepts exactly the options that the schemas accept', () => {
  fc.assert(
    fc.property(fc.constantFrom(...TESTED), options, (call, given) => {
      expect(CALLS[call].fault(given) === undefined).toBe(SCHEMAS[call].safeParse(given).success);
    }),
    { numRuns: 20_000 },
  );
});

test.each(TESTED)('accepts no options, and empty options, of %s', (call) => {
  expect(() => checkOptions(call, undefined)).not.toThrow();
  expect(() => checkOptions(call, {})).not.toThrow();
});

const wrong: [OptionCall, unknown, string, string, RegExp][] = [
  ['Network.create()', { name: 'shop' }, 'sidecar', 'undefined', /a Sidecar made by/],
  ['network.join()', { as: 'Db' }, 'as', '"Db" (string)', /lower-case letters/],
  ['network.join()', { as: 'db', tags: ['-'] }, 'tags.0', '"-" (string)', /lower-case letters/],
  ['NodeRuntime.create()', { network: { join: [{ as: 'db' }] } }, 'network.join.0.network', 'undefined', /a Network made by/],
  ['NodeRuntime.create()', { permissions: 'allow' }, 'permissions', '"allow" (string)', /a policy: \{ fs\?, network\?/],
  [
    'NodeRuntime.create()',
    { permissions: { fs: 'alow' } },
    'permissions.fs',
    '"alow" (string)',
    /'allow' or 'deny', or \{ default\?, rules \}/,
  ],
  [
    'NodeRuntime.create()',
    { permissions: { filesystem: 'deny' } },
    'permissions.filesystem',
    '"deny" (string)',
    /one of fs, network, childProcess/,
  ],
  ['setPermissions()', { fs: { default: 'allow' } }, 'fs.rules', 'undefined', /a list of rules/],
  ['setPermissions()', { fs: { rules: [{ mode: 'no' }] } }, 'fs.rules.0.mode', '"no" (string)', /'allow' or 'deny'/],
  [
    'setPermissions()',
    { fs: { rules: [{ mode: 'deny', operations: ['read', 'unlink'] }] } },
    'fs.rules.0.operations.1',
    '"unlink" (string)',
    /an operation of fs: read, write, stat/,
  ],
  [
    'setPermissions()',
    { fs: { rules: [{ mode: 'deny', paths: ['/a', 'b'] }] } },
    'fs.rules.0.paths.1',
    '"b" (string)',
    /an absolute guest path/,
  ],
  [
    'setPermissions()',
    { fs: { rules: [{ mode: 'deny', patterns: [] }] } },
    'fs.rules.0.patterns',
    'an array of 0',
    /one of mode, operations, paths/,
  ],
  [
    'setPermissions()',
    { env: { rules: [{ mode: 'deny', paths: [] }] } },
    'env.rules.0.paths',
    'an array of 0',
    /one of mode, operations, patterns/,
  ],
  ['exec()', { timeout: -5 }, 'timeout', '-5 (number)', /a whole number of milliseconds from 1 to 2147483647/],
  ['exec()', { timeout: '5s' }, 'timeout', '"5s" (string)', /a whole number of milliseconds/],
  ['exec()', { timeout: 1.5 }, 'timeout', '1.5 (number)', /a whole number/],
  ['exec()', { env: { A: 1 } }, 'env.A', '1 (number)', /text without NUL/],
  ['exec()', { env: ['A=1'] }, 'env', 'an array of 1', /a map of names/],
  ['exec()', { env: { 'A=B': '1' } }, 'env.A=B', '"1" (string)', /names without "="/],
  ['exec()', { cwd: 'src' }, 'cwd', '"src" (string)', /an absolute guest path/],
  ['exec()', { args: 'a b' }, 'args', '"a b" (string)', /a list of text/],
  ['exec()', { args: ['a', 2] }, 'args.1', '2 (number)', /text without NUL/],
  ['exec()', { stdin: 5 }, 'stdin', '5 (number)', /text or a Uint8Array/],
  ['exec()', { signal: {} }, 'signal', 'an object', /an AbortSignal/],
  ['exec()', { onStdout: 'inherit' }, 'onStdout', '"inherit" (string)', /a function/],
  ['exec()', { explainLimits: 'yes' }, 'explainLimits', '"yes" (string)', /true or false/],
  ['waitForListener()', { process: 7 }, 'process', '7 (number)', /a GuestProcess/],
  ['waitForListener()', { process: { pid: 7 } }, 'process', 'an object', /a GuestProcess/],
  ['exec()', null, 'options', 'null', /an object with options/],
  ['exec()', 'fast', 'options', '"fast" (string)', /an object with options/],
  ['NodeRuntime.create()', { limits: { memoryBytes: 0 } }, 'limits.memoryBytes', '0 (number)', /bytes from 1 to 2147483648/],
  ['NodeRuntime.create()', { limits: { profile: 'soft' } }, 'limits.profile', '"soft" (string)', /'default' or 'hardened'/],
  ['NodeRuntime.create()', { limits: 5 }, 'limits', '5 (number)', /an object with limits/],
  ['NodeRuntime.create()', { sidecar: {} }, 'sidecar', 'an object', /Sidecar\.spawn\(\)/],
  [
    'NodeRuntime.create()',
    { idle: 'pause' },
    'idle',
    '"pause" (string)',
    /\{ afterMs, action: 'pause' \| 'dispose', onError\? \}/,
  ],
  ['NodeRuntime.create()', { idle: { afterMs: 0, action: 'pause' } }, 'idle.afterMs', '0 (number)', /milliseconds from 1 to/],
  ['NodeRuntime.create()', { idle: { afterMs: 1 } }, 'idle.action', 'undefined', /'pause' or 'dispose'/],
  ['new RuntimePool()', {}, 'size', 'undefined', /a whole number of slots from 1 to 10000/],
  ['new RuntimePool()', { size: 2, min: 3 }, 'min', '3 (number)', /at most `size`, which is 2/],
  ['new RuntimePool()', { size: 2, recycle: 'never' }, 'recycle', '"never" (string)', /'each-use' or 'last-use'/],
  [
    'new RuntimePool()',
    { size: 2, options: { tenant: 'a' } },
    'options',
    'an object',
    /options of NodeRuntime\.create\(\) without/,
  ],
  ['acquire()', { tenant: '' }, 'tenant', '"" (string)', /a tenant \(1 to 200 characters\)/],
  ['acquire()', { tenant: '\ud800' }, 'tenant', '"\\ud800" (string)', /a tenant/],
  ['NodeRuntime.create()', { tenant: 'a\udfff' }, 'tenant', '"a\\udfff" (string)', /without NUL and lone surrogates/],
  ['NodeRuntime.create()', { snapshot: '\ud800' }, 'snapshot', '"\\ud800" (string)', /the id or name of one/],
  ['snapshots.list()', { tenant: '\ud801' }, 'tenant', '"\\ud801" (string)', /without NUL and lone surrogates/],
  ['snapshot()', { name: 'a\ud800b' }, 'name', '"a\\ud800b" (string)', /without NUL and lone surrogates/],
  ['snapshot()', { labels: { a: '\ud800' } }, 'labels', 'an object', /a map of at most 64 names/],
  ['withRuntime()', { signal: 1 }, 'signal', '1 (number)', /an AbortSignal/],
  ['RuntimePool.dispose()', { timeoutMs: -1 }, 'timeoutMs', '-1 (number)', /milliseconds from 0 to 86400000/],
  ['Sidecar.embedded()', { inlineBudgetMs: -1 }, 'inlineBudgetMs', '-1 (number)', /milliseconds from 0 to 1000/],
];

test.each(wrong)('names the wrong option of %s in %j', (call, given, option, received, expected) => {
  expect(isAccepted(call, given)).toBe(false);
  expect(errorOf(call, given)).toMatchObject({
    code: 'ERR_INVALID_OPTION',
    option,
    received,
    expected: expect.stringMatching(expected),
    message: expect.stringContaining(`Invalid \`${option}\` in ${call}: expected`),
  });
});

test('accepts surrogate pairs as characters', () => {
  expect(isAccepted('snapshot()', { name: '😀'.repeat(200), labels: { '😀': '😀' } })).toBe(true);
  expect(isAccepted('acquire()', { tenant: '😀' })).toBe(true);
});

const unknown: [OptionCall, unknown, string, RegExp][] = [
  ['exec()', { timeoutMs: 5 }, 'timeoutMs', /It is called `timeout`, in milliseconds\.$/],
  ['exec()', { timeoutMessage: true }, 'timeoutMessage', /It is called `explainLimits`\.$/],
  ['waitForListener()', { pid: 7 }, 'pid', /It is called `process`, a GuestProcess\.$/],
  ['exec()', { input: 'x' }, 'input', /It is called `stdin`\.$/],
  ['exec()', { Timeout: 5 }, 'Timeout', /It is spelled `timeout`\.$/],
  ['exec()', { tiemout: 5 }, 'tiemout', /expected one of .*timeout.*, received 5 \(number\)\. It is spelled `timeout`\.$/],
  ['NodeRuntime.create()', { limits: { memoryByte: 5 } }, 'limits.memoryByte', /It is spelled `memoryBytes`\.$/],
  ['exec()', { memoryLimit: 5 }, 'memoryLimit', /It is called `limits\.memoryBytes`, in bytes\.$/],
  [
    'fetch()',
    { memoryLimit: 5 },
    'memoryLimit',
    /`limits\.memoryBytes`, in bytes, and an option of NodeRuntime\.create\(\), exec/,
  ],
  ['fetch()', { limits: {} }, 'limits', /It is an option of NodeRuntime\.create\(\), exec\(\), .* and others\.$/],
  ['ResidentRunner.exec()', { limits: {} }, 'limits', /It is an option of NodeRuntime\.create\(\), exec\(\), /],
  ['exec()', { pipeBytes: 5 }, 'pipeBytes', /It is an option of NodeRuntime\.create\(\)\. It is `limits\.pipeBytes` there\.$/],
  ['NodeRuntime.create()', { memoryLimit: 5 }, 'memoryLimit', /It is called `limits\.memoryBytes`, in bytes\.$/],
  [
    'NodeRuntime.create()',
    { limits: { memoryMb: 5 } },
    'limits.memoryMb',
    /expected one of memoryBytes, totalMemoryBytes, kernelBytes/,
  ],
  [
    'NodeRuntime.create()',
    { timeout: 5 },
    'timeout',
    /It is an option of exec\(\), execFile\(\), run\(\), spawn\(\), execCommand\(\), openTerminal\(\) and others\.$/,
  ],
  ['NodeRuntime.create()', { constructor: 5 }, 'constructor', /expected one of env, cwd/],
  ['NodeRuntime.create()', { permissions: { filesystem: 'deny' } }, 'permissions.filesystem', /It is called `fs`\.$/],
  ['setPermissions()', { constructor: 'deny' }, 'constructor', /expected one of fs, network/],
  [
    'setPermissions()',
    { fs: { rules: [{ mode: 'deny', operations: ['unlink'] }] } },
    'fs.rules.0.operations.0',
    /It is called `rm`\.$/,
  ],
  ['setPermissions()', { fs: { rules: [{ mode: 'deny', patterns: ['/a'] }] } }, 'fs.rules.0.patterns', /In fs it is `paths`\.$/],
  [
    'setPermissions()',
    { env: { rules: [{ mode: 'deny', paths: ['A'] }] } },
    'env.rules.0.paths',
    /elsewhere it is `patterns`\.$/,
  ],
  ['new RuntimePool()', { size: 2, max: 4 }, 'max', /It is called `size` of a pool\.$/],
  ['new RuntimePool()', { size: 2, idleTimeout: 4 }, 'idleTimeout', /`idleTimeoutMs` of a pool, or `idle\.afterMs` of a runtime/],
  [
    'ResidentRunner.exec()',
    { stdin: '' },
    'stdin',
    /It is an option of exec\(\), execFile\(\), run\(\), spawn\(\), execCommand\(\)\.$/,
  ],
];

test.each(unknown)('suggests the right name for the unknown name of %s in %j', (call, given, option, message) => {
  expect(isAccepted(call, given)).toBe(false);
  expect(errorOf(call, given)).toMatchObject({
    code: 'ERR_INVALID_OPTION',
    option,
    message: expect.stringMatching(message),
  });
});

test('accepts correct options in less than 10 microseconds', () => {
  const given = { env: { A: '1' }, cwd: '/', timeout: 1_000, onStdout: () => {} };
  const began = performance.now();
  for (let i = 0; i < 100_000; i++) checkOptions('exec()', given);
  // A check takes a tenth of a microsecond on an idle machine. The bound is larger, because the
  // machine may be busy.
  expect((performance.now() - began) / 100_000).toBeLessThan(0.01);
});
