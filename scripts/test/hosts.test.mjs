// The table of docs/hosts.md has a column for each host and a row for each feature. `pnpm
// test:hosts` measures the cells.

import { expect, test } from 'vitest';
import { features } from '../hosts/features.mjs';
import { hosts } from '../hosts/hosts.mjs';
import { readTable, table } from '../hosts/table.mjs';
import { readJson } from './tree.mjs';

test('docs/hosts.md has the hosts, the features and the unsupported features of `pnpm test:hosts`', () => {
  const unsupported = new Map(hosts.map((host) => [host.name, host.unsupported]));
  const cell = (host, feature) => (unsupported.get(host).includes(feature) ? 'no' : 'yes');
  expect(readTable()).toBe(table([...unsupported.keys()], Object.keys(features), cell));
});

test('the hosts include the oldest supported Node', () => {
  const { node } = readJson('packages/sdk/package.json').engines;
  expect(hosts.map(({ name }) => name)).toContain(`Node ${node.replace('>=', '')}.0`);
});

test('each unsupported feature exists', () => {
  expect(hosts.flatMap(({ unsupported }) => unsupported).filter((feature) => !(feature in features))).toEqual([]);
});
