// Tests the registry in a file of SQLite.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { BuildRecord, SandboxRecord, TemplateRecord } from '../src/registry/records.ts';
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
  buildId: undefined,
  alias: undefined,
  state: 'running',
  metadata: {},
  env: { A: '1' },
  user: 'user',
  workdir: undefined,
  startedAt: 1,
  endAt: 2,
  timeoutMs: 1,
  accessToken: 'token',
  trafficToken: undefined,
  network: {},
  volumeMounts: [],
  pauseMode: undefined,
  snapshot: undefined,
  fileMetadata: {},
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

test('keeps paused sandboxes over a start, and the reason why running sandboxes have ended', () => {
  const first = openRegistry(path, 0);
  first.sandboxes.add(sandbox('a'));
  first.sandboxes.add(sandbox('b'));
  first.sandboxes.change('b', { state: 'paused', snapshot: 'snap-1' });
  expect(first.sandboxes.count('one')).toEqual({ running: 1, paused: 1 });
  first.close();
  const second = openRegistry(path, 7);
  expect([second.epoch, second.home]).toEqual([first.epoch + 1, first.home]);
  expect(second.sandboxes.list(ALL)).toEqual([sandbox('b', { state: 'paused', snapshot: 'snap-1' })]);
  expect(second.sandboxes.count('one')).toEqual({ running: 0, paused: 1 });
  expect(second.sandboxes.ended('a')).toEqual({ id: 'a', tenant: 'one', reason: 'restart', at: 7 });
  const end = (id: string) => second.sandboxes.end(id, 'killed', 8);
  expect([end('a'), end('b'), end('b')]).toEqual([false, true, false]);
  expect(second.sandboxes.count('one')).toEqual({ running: 0, paused: 0 });
  second.close();
});

test('selects sandboxes by every part of a query', () => {
  const { sandboxes, close } = openRegistry(path, 0);
  sandboxes.add(sandbox('a', { startedAt: 10, metadata: { user: 'x', 'a.b': "'" } }));
  sandboxes.add(sandbox('b', { startedAt: 20, templateId: 'other' }));
  sandboxes.add(sandbox('c', { startedAt: 20, state: 'paused' }));
  sandboxes.add(sandbox('d', { tenant: 'two' }));
  const ids = (change: Partial<SandboxQuery>) => sandboxes.list({ ...ALL, ...change }).map(({ id }) => id);
  expect(ids({})).toEqual(['c', 'b', 'a']);
  expect(ids({ order: 'asc' })).toEqual(['a', 'b', 'c']);
  expect(ids({ states: ['paused'] })).toEqual(['c']);
  expect(ids({ metadata: { user: 'x', 'a.b': "'" } })).toEqual(['a']);
  expect(ids({ metadata: { user: 'y' } })).toEqual([]);
  expect(ids({ templateIds: ['other'] })).toEqual(['b']);
  expect(ids({ startedAfter: 20 })).toEqual(['c', 'b']);
  expect(ids({ limit: 1, after: { at: 20, id: 'c' } })).toEqual(['b']);
  expect(ids({ tenant: 'two' })).toEqual(['d']);
  close();
});

const template = (id: string, change: Partial<TemplateRecord> = {}): TemplateRecord => ({
  id,
  tenant: 'one',
  kind: 'snapshot',
  name: undefined,
  sandboxId: 's',
  createdAt: 1,
  updatedAt: 1,
  ...change,
});
const build = (id: string, templateId: string, change: Partial<BuildRecord> = {}): BuildRecord => ({
  id,
  templateId,
  state: 'ready',
  snapshot: `snap-${id}`,
  env: {},
  user: 'user',
  workdir: undefined,
  fileMetadata: {},
  failure: undefined,
  createdAt: 1,
  finishedAt: undefined,
  ...change,
});

test('finds templates by id and name, and lists the newest first', () => {
  const { templates, close } = openRegistry(path, 0);
  templates.add(template('a', { name: 'first' }), build('a1', 'a'), ['default']);
  templates.add(template('b', { createdAt: 2 }), build('b1', 'b'), ['default']);
  templates.add(template('c', { name: 'first', tenant: 'two' }), build('c1', 'c'), []);
  expect(templates.find('one', 'first')?.id).toBe('a');
  expect(templates.find('one', 'c')).toBeUndefined();
  expect(() => templates.add(template('d', { name: 'first' }), build('d1', 'd'), [])).toThrow(/UNIQUE/);
  expect(templates.build('d1')).toBeUndefined();
  const list = { tenant: 'one', kind: 'snapshot', limit: 1, after: undefined } as const;
  expect(templates.list(list).map(({ id }) => id)).toEqual(['b']);
  expect(templates.list({ ...list, after: { at: 2, id: 'b' } }).map(({ id }) => id)).toEqual(['a']);
  expect([templates.count('one'), templates.count('two')]).toEqual([2, 1]);
  close();
});

test('tags name builds, and leave with their template', () => {
  const { templates, close } = openRegistry(path, 0);
  templates.add(template('a'), build('a1', 'a'), ['v1']);
  templates.addBuild(build('a2', 'a', { createdAt: 2 }), ['v2']);
  templates.setTag('a', { tag: 'v1', buildId: 'a2', createdAt: 3 });
  expect(templates.tags('a').map(({ tag, buildId }) => [tag, buildId])).toEqual([
    ['v2', 'a2'],
    ['v1', 'a2'],
  ]);
  templates.removeBuild('a2');
  expect(templates.tags('a')).toEqual([]);
  expect(templates.remove('a').map(({ id }) => id)).toEqual(['a1']);
  expect(templates.build('a1')).toBeUndefined();
  close();
});

test('a build of an earlier start has failed', () => {
  const first = openRegistry(path, 0);
  first.templates.add(template('a', { kind: 'template' }), build('a1', 'a', { state: 'building', snapshot: undefined }), []);
  first.close();
  const second = openRegistry(path, 5);
  expect(second.templates.build('a1')).toMatchObject({
    state: 'error',
    failure: { message: 'The server was restarted during the build' },
    finishedAt: 5,
  });
  second.close();
});

test('keeps the steps that were used last', () => {
  const { templates, close } = openRegistry(path, 0);
  for (const [at, key] of ['a', 'b', 'c'].entries())
    templates.setStep({ tenant: 'one', key, snapshot: `snap-${key}`, usedAt: at });
  expect(templates.step('one', 'a', 9)?.snapshot).toBe('snap-a');
  expect(templates.step('two', 'a', 9)).toBeUndefined();
  expect(templates.dropSteps('one', 2).map(({ key }) => key)).toEqual(['b']);
  expect(templates.step('one', 'b', 9)).toBeUndefined();
  close();
});

test('names of a tenant are used once, and keys are found by their digest', () => {
  const { volumes, keys, close } = openRegistry(path, 0);
  const volume = { id: 'v', tenant: 'one', name: 'data', token: 't', createdAt: 1 };
  expect([volumes.add(volume), volumes.add({ ...volume, id: 'w' }), volumes.add({ ...volume, id: 'x', tenant: 'two' })]).toEqual([
    true,
    false,
    true,
  ]);
  expect([volumes.named('one', 'data')?.id, volumes.named('two', 'data')?.id, volumes.list('one').length]).toEqual(['v', 'x', 1]);
  volumes.change('v', { token: 'u' });
  expect(volumes.get('v')).toEqual({ ...volume, token: 'u' });
  const key = {
    id: 'k',
    tenant: 'one',
    name: 'ci',
    digest: 'd',
    mask: { prefix: 'p', suffix: 's', length: 9 },
    scopes: ['read' as const],
    createdAt: 1,
  };
  keys.add(key);
  expect([keys.byDigest('d'), keys.byDigest('e'), keys.get('v')]).toEqual([key, undefined, undefined]);
  close();
});

test('records in memory follow each change, and equal the records in the file', () => {
  const first = openRegistry(path, 0);
  first.sandboxes.add(sandbox('a'));
  first.sandboxes.change('a', { timeoutMs: 7 });
  expect(first.sandboxes.get('a')?.timeoutMs).toBe(7);
  first.sandboxes.change('a', { state: 'paused', snapshot: 's', pauseMode: 'full' });
  expect(first.sandboxes.get('a')).toMatchObject({ state: 'paused', snapshot: 's', timeoutMs: 7 });
  first.sandboxes.change('a', { state: 'running', snapshot: undefined, pauseMode: undefined });
  const [listed] = first.sandboxes.list(ALL);
  expect(first.sandboxes.get('a')).toEqual(listed);
  expect(first.sandboxes.end('a', 'killed', 1)).toBe(true);
  expect(first.sandboxes.get('a')).toBeUndefined();

  const hook = { id: 'h', tenant: 'one', name: 'n', url: 'u', events: [], secret: 's', enabled: true, createdAt: 1 };
  const names = () => first.webhooks.list('one').map(({ name }) => name);
  expect(names()).toEqual([]);
  first.webhooks.add(hook);
  expect(names()).toEqual(['n']);
  first.webhooks.change('h', { name: 'm' });
  expect(names()).toEqual(['m']);
  first.webhooks.remove('h');
  expect(names()).toEqual([]);
  first.close();
});

test('lists events in their order, by sandbox and type', () => {
  const { events, close } = openRegistry(path, 0);
  for (const [id, sandboxId, type] of [
    ['1', 'a', 'x'],
    ['2', 'b', 'x'],
    ['3', 'a', 'y'],
  ] as const) {
    events.append({ id, tenant: 'one', type, sandboxId, templateId: 't', buildId: undefined, epoch: 1, at: 1, data: { id } });
  }
  const all = {
    tenant: 'one',
    sandboxId: undefined,
    after: undefined,
    types: undefined,
    order: 'asc',
    offset: 0,
    limit: 10,
  } as const;
  const ids = (change: object) => events.list({ ...all, ...change }).map(({ id }) => id);
  expect(ids({})).toEqual(['1', '2', '3']);
  expect(ids({ order: 'desc', limit: 1, offset: 1 })).toEqual(['2']);
  expect(ids({ sandboxId: 'a' })).toEqual(['1', '3']);
  expect(ids({ types: ['y'] })).toEqual(['3']);
  expect(ids({ after: 1 })).toEqual(['2', '3']);
  expect(ids({ tenant: 'two' })).toEqual([]);
  expect(events.list(all)[0]).toMatchObject({ sequence: 1, data: { id: '1' } });
  close();
});

test('refuses the registry of a later version', () => {
  openRegistry(path, 0).close();
  const database = new Database(path);
  database.exec('PRAGMA user_version = 999');
  database.close();
  expect(() => openRegistry(path, 0)).toThrow('The registry has version 999');
});
