// docs/permissions.md names every operation with its scope, and every system call of files,
// sockets, processes and bindings. The SDK and the kernel have equal tables of operations.

import { expect, test } from 'vitest';
import { readText } from './tree.mjs';

const page = readText('docs/permissions.md');

const SCOPES = { Fs: 'fs', Network: 'network', ChildProcess: 'childProcess', Process: 'process', Env: 'env', Binding: 'binding' };

// Reads the kernel's operations from lines such as `files of Fs: READ "read", ...;`.
function kernelOperations() {
  const source = readText('packages/sidecar/crates/kernel/src/permissions/operations.rs');
  const list = source.slice(source.indexOf('\noperations! {'));
  const scopes = [...list.slice(0, list.indexOf('\n}')).matchAll(/\w+ of (\w+):([^;]+);/g)];
  return scopes.flatMap(([, scope, names]) => [...names.matchAll(/"(\w+)"/g)].map(([, name]) => `${SCOPES[scope]}.${name}`));
}

// Reads the SDK's operations from lines such as `fs: ['read', ...],`.
function sdkOperations() {
  const source = readText('packages/sdk/src/options/permissions.ts');
  const [, list] = /export const OPERATIONS[^=]+= \{(.+?)\n\};/s.exec(source);
  const scopes = [...list.matchAll(/(\w+): \[([^\]]+)\]/g)];
  return scopes.flatMap(([, scope, names]) => [...names.matchAll(/'(\w+)'/g)].map(([, name]) => `${scope}.${name}`));
}

test('finds equal tables of operations in the page, the kernel and the SDK', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| `(\w+)` \|/gm)].map(([, scope, operation]) => `${scope}.${operation}`);
  expect(rows.length).toBeGreaterThan(20);
  expect(rows).toEqual(kernelOperations());
  expect(sdkOperations()).toEqual(kernelOperations());
});

test('finds every system call of files, sockets, processes, bindings and terminals once in the table of calls', () => {
  const table = page.slice(page.indexOf('## System calls'), page.indexOf('## Listening to decisions'));
  const listed = [...table.matchAll(/^\| ((?:0x[0-9a-f]+(?:, )?)+) \|/gm)].flatMap(([, calls]) => calls.split(', '));
  const known = [...readText('docs/internals/guest-abi.md').matchAll(/^\| (0x[12467][0-9a-f]{2}) \| `/gm)].map(
    ([, call]) => call,
  );
  const outside = known.filter((call) => /^0x[12467]/.test(call));
  expect(outside.length).toBeGreaterThan(60);
  expect([...new Set(listed)].sort()).toEqual([...new Set(outside)].sort());
  expect(listed.filter((call, at) => listed.indexOf(call) !== at)).toEqual([]);
});

test('finds only operations in the table of calls', () => {
  const table = page.slice(page.indexOf('## System calls'), page.indexOf('## Listening to decisions'));
  const asked = [...table.matchAll(/`([a-zA-Z]+\.\w+)`/g)].map(([, operation]) => operation);
  expect(asked.filter((operation) => !kernelOperations().includes(operation))).toEqual([]);
  expect(kernelOperations().filter((operation) => !asked.includes(operation))).toEqual([]);
});
