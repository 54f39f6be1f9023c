// Tests the registry in a file of SQLite.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SandboxRecord } from '../src/registry/records.ts';
import type { SandboxQuery } from '../src/registry/registry.ts';
import { openRegistry } from '../src/registry/sqlite.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coldframe-registry-'));
  path = join(folder, 'registry.db');
});
afterEach(() => rm(folder, { recursive: true }));

const sandbox = (id: string, change: Partial<SandboxRecord> = {}): SandboxRecord => ({
  id,
  tenant: 'one',
  templateId: 'base',
  alias: undefined,
  state: 'running',
  metadata: {},
  env: { A: '1' },
  startedAt: 1,
  endAt: 2,
  accessToken: 'token',
  snapshot: undefined,
  epoch: 1,
  autoPause: false,
  autoPauseMemory: true,
  autoResume: false,
  ...change,
});

const ALL: SandboxQuery = {
  tenant: 'one',
  states: ['running', 'paused'],
  metadata: {},
  templateIds: undefined,
  startedAfter: undefined,
  order: 'desc',
  limit: 10,
  after: undefined,
};

test('keeps paused sandboxes over a start, and forgets running sandboxes', () => {
  const first = openRegistry(path, 0);
  first.addSandbox(sandbox('a'));
  first.addSandbox(sandbox('b'));
  first.changeSandbox('b', { state: 'paused', snapshot: 'snap-1' });
  expect(first.running('one')).toBe(1);
  first.close();
  const second = openRegistry(path, 0);
  expect(second.epoch).toBe(first.epoch + 1);
  expect(second.sandboxes(ALL)).toEqual([sandbox('b', { state: 'paused', snapshot: 'snap-1' })]);
  expect([second.removeSandbox('a'), second.removeSandbox('b'), second.removeSandbox('b')]).toEqual([false, true, false]);
  second.close();
});

test('selects sandboxes by every part of a query', () => {
  const registry = openRegistry(path, 0);
  registry.addSandbox(sandbox('a', { startedAt: 10, metadata: { user: 'x', 'a.b': "'" } }));
  registry.addSandbox(sandbox('b', { startedAt: 20, templateId: 'other' }));
  registry.addSandbox(sandbox('c', { startedAt: 20, state: 'paused' }));
  registry.addSandbox(sandbox('d', { tenant: 'two' }));
  const ids = (change: Partial<SandboxQuery>) => registry.sandboxes({ ...ALL, ...change }).map(({ id }) => id);
  expect(ids({})).toEqual(['c', 'b', 'a']);
  expect(ids({ order: 'asc' })).toEqual(['a', 'b', 'c']);
  expect(ids({ states: ['paused'] })).toEqual(['c']);
  expect(ids({ metadata: { user: 'x', 'a.b': "'" } })).toEqual(['a']);
  expect(ids({ metadata: { user: 'y' } })).toEqual([]);
  expect(ids({ templateIds: ['other'] })).toEqual(['b']);
  expect(ids({ startedAfter: 20 })).toEqual(['c', 'b']);
  expect(ids({ limit: 1, after: { at: 20, id: 'c' } })).toEqual(['b']);
  expect(ids({ tenant: 'two' })).toEqual(['d']);
  registry.close();
});

test('finds templates by id and name, and lists the newest first', () => {
  const registry = openRegistry(path, 0);
  const template = (id: string, createdAt: number, name?: string, tenant = 'one') => ({
    id,
    tenant,
    name,
    snapshot: `snap-${id}`,
    sandboxId: 's',
    createdAt,
  });
  registry.addTemplate(template('a', 1, 'first'));
  registry.addTemplate(template('b', 2));
  registry.addTemplate(template('c', 3, 'first', 'two'));
  expect(registry.template('one', 'first')?.id).toBe('a');
  expect(registry.template('one', 'c')).toBeUndefined();
  expect(() => registry.addTemplate(template('d', 4, 'first'))).toThrow(/UNIQUE/);
  const list = { tenant: 'one', sandboxId: undefined, name: undefined, limit: 1, after: undefined };
  expect(registry.templates(list).map(({ id }) => id)).toEqual(['b']);
  expect(registry.templates({ ...list, after: { at: 2, id: 'b' } }).map(({ id }) => id)).toEqual(['a']);
  registry.close();
});

test('refuses the registry of a later version', () => {
  openRegistry(path, 0).close();
  const database = new Database(path);
  database.exec('PRAGMA user_version = 999');
  database.close();
  expect(() => openRegistry(path, 0)).toThrow('The registry has version 999');
});
