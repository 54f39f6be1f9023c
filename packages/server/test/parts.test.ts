// Tests the parts of the server that only compute: references, patterns, Dockerfiles, images,
// connections, quotas of time, destinations, and blobs.

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { destinations, isPrivate } from '../src/events/destination.ts';
import { openBlobs } from '../src/fleet/blobs.ts';
import { singleServer } from '../src/fleet/coordinator.ts';
import { Budget } from '../src/front/budget.ts';
import { homeOf, newHome, newSandboxId } from '../src/ids.ts';
import { openRegistry } from '../src/registry/sqlite.ts';
import { checkNetwork, policyOf, secretName } from '../src/sandboxes/network.ts';
import { openSecretKey, Secrets } from '../src/secrets/secrets.ts';
import { planOf } from '../src/templates/dockerfile.ts';
import { matchesGlob } from '../src/templates/glob.ts';
import { isBaseImage } from '../src/templates/images.ts';
import { referenceOf } from '../src/templates/references.ts';
import { VolumeFiles } from '../src/volumes/volume-files.ts';

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'coldframe-parts-'));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('an id has a home, and only its server knows the sandbox', () => {
  const home = newHome();
  const id = newSandboxId(home);
  expect(id).toMatch(/^i[a-z0-9]{23}$/);
  expect([homeOf(id), homeOf('nonexisting'), homeOf(`${id}x`)]).toEqual([home, undefined, undefined]);
  const coordinator = singleServer(home, 1);
  expect([coordinator.locate(id), coordinator.locate(newSandboxId('iother'))]).toEqual(['here', 'unknown']);
});

test('a budget refuses work beyond its pace', () => {
  const budget = new Budget(100);
  expect([budget.take(60), budget.take(40), budget.take(50)]).toEqual([true, true, false]);
});

test('a reference has a namespace of the tenant, a name and a tag', () => {
  const of = (reference: string) => referenceOf('one', reference);
  expect(of('name')).toEqual({ name: 'name', tag: 'default', hasTag: false });
  expect(of('one/name:v1.0')).toEqual({ name: 'name', tag: 'v1.0', hasTag: true });
  for (const wrong of ['two/name', ':tag', 'name:', 'a/b/c', 'a b', '', 'name:-x', '../name']) expect(of(wrong)).toBeUndefined();
});

test('a pattern is compared in bounded time', () => {
  for (const [name, pattern] of [
    ['a.txt', '*.txt'],
    ['a.txt', 'a.t?t'],
    ['a', '[a-c]'],
    ['d', '[!a-c]'],
    ['*', '\\*'],
    ['', '*'],
    ['a]', 'a[]]'],
  ] as const) {
    expect([name, pattern, matchesGlob(name, pattern)]).toEqual([name, pattern, true]);
  }
  for (const [name, pattern] of [
    ['a.txt', '*.md'],
    ['ab', '?'],
    ['d', '[a-c]'],
    ['a', '\\*'],
    ['', '?'],
    ['abc', 'ab'],
  ] as const) {
    expect([name, pattern, matchesGlob(name, pattern)]).toEqual([name, pattern, false]);
  }
  const before = performance.now();
  expect(matchesGlob('a'.repeat(250), `${'*a'.repeat(120)}b`)).toBe(false);
  expect(performance.now() - before).toBeLessThan(500);
});

test('a Dockerfile becomes the steps of a build', () => {
  expect(planOf('FROM node:22 AS x\nENV A 1 2\nRUN ["echo", "it\'s"]\n#c\nCOPY a b\nENTRYPOINT run')).toEqual({
    fromImage: 'node:22',
    force: false,
    startCmd: 'run',
    steps: [
      { type: 'ENV', args: ['A', '1 2'], force: false },
      { type: 'RUN', args: [`'echo' 'it'\\''s'`], force: false },
      { type: 'COPY', args: ['a b'], force: false },
    ],
  });
});

test('only images of Debian, Ubuntu and Node stand for the base', () => {
  for (const image of [
    'ubuntu',
    'debian:12',
    'docker.io/library/node:22-slim',
    'e2bdev/base',
    'NODE',
    `node@sha256:${'0'.repeat(64)}`,
  ]) {
    expect([image, isBaseImage(image)]).toEqual([image, true]);
  }
  for (const image of ['python:3', 'evil/node', 'node.example.com/x', 'registry.example.com:5000/ubuntu', 'nodex']) {
    expect([image, isBaseImage(image)]).toEqual([image, false]);
  }
});

test('the wishes of clients become options of connections', () => {
  const of = (config: Parameters<typeof policyOf>[0], internet = true) => policyOf(config, internet).network;
  expect(of({})).toMatchObject({ outside: 'public', allow: [], deny: [] });
  expect(of({}, false)).toMatchObject({ outside: 'deny' });
  expect(of({ allowInternet: false })).toMatchObject({ outside: 'deny', allow: [] });
  expect(of({ denyOut: ['0.0.0.0/0'], allowOut: ['1.1.1.1', '2606:4700::/32', '*.example.com'] })).toMatchObject({
    outside: 'deny',
    allow: ['1.1.1.1:*', '[2606:4700::/32]:*', '*.example.com:80', '*.example.com:443'],
  });
  // A denied address within an allowed range is allowed.
  expect(of({ allowOut: ['8.8.0.0/16'], denyOut: ['8.8.8.8', '9.9.9.9'] }).deny).toEqual(['9.9.9.9']);
  expect(() => policyOf({ allowOut: ['example.com'] }, true)).toThrow('needs 0.0.0.0/0 in denyOut');
  expect(() => checkNetwork({ denyOut: ['example.com'] })).toThrow('no address');
});

test('a rule sets headers only for allowed hosts, and secrets only over TLS', () => {
  const rules = {
    'a.example.com': [{ transform: { headers: { x: 'plain' } } }],
    'b.example.com': [{ transform: { headers: { x: 'Bearer ${e2b.secrets.My_Key-1}' } } }],
    'denied.test': [{ transform: { headers: { x: 'y' } } }],
  };
  const { network, secretHosts } = policyOf({ denyOut: ['0.0.0.0/0'], allowOut: ['*.example.com'], rules }, true);
  expect(network.http).toEqual([
    { host: 'a.example.com:443', inject: { x: 'plain' } },
    { host: 'a.example.com:80', inject: { x: 'plain' } },
    { host: 'b.example.com:443', inject: { x: `Bearer \${${secretName('my_key-1')}}` } },
  ]);
  expect([...secretHosts]).toEqual([['my_key-1', ['b.example.com:443']]]);
  expect(secretName('a_-b')).not.toBe(secretName('a-_b'));
  const wrong = { 'a.test': [{ transform: { headers: { x: '${HOME}' } } }] };
  expect(() => policyOf({ rules: wrong }, true)).toThrow('names no secret');
});

test('webhooks reach no private address', async () => {
  for (const address of [
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '::1',
    '::ffff:10.0.0.1',
    'fd00::1',
    '192.168.0.1',
    '0.0.0.0',
  ]) {
    expect([address, isPrivate(address)]).toEqual([address, true]);
  }
  for (const address of ['1.1.1.1', '2606:4700::1111']) expect([address, isPrivate(address)]).toEqual([address, false]);
  const { post } = destinations(false);
  const request = { headers: {}, body: '{}', signal: AbortSignal.timeout(5_000) };
  await expect(post('http://127.0.0.1:1/', request)).rejects.toThrow('private');
  await expect(post('http://[::1]:1/', request)).rejects.toThrow('private');
  await expect(post('http://localhost:1/', request)).rejects.toThrow('private');
});

test('blobs are hashed while they arrive, and a failed upload leaves nothing', () =>
  withFolder(async (folder) => {
    const blobs = await openBlobs(folder);
    const { digest, size } = await blobs.put(Readable.from([Buffer.from('a'), Buffer.from('b')]), 10);
    expect([size, await text(blobs.get(digest)), await blobs.has(digest)]).toEqual([2, 'ab', true]);
    await expect(blobs.put(Readable.from([Buffer.alloc(11)]), 10)).rejects.toThrow('more than 10 bytes');
    expect(() => blobs.get('../x')).toThrow('not a SHA-256');
    await blobs.delete(digest);
    expect(await readdir(folder)).toEqual([]);
  }));

test('values of secrets are encrypted, and bound to their secret', () =>
  withFolder(async (folder) => {
    const registry = openRegistry(join(folder, 'registry.db'), 0);
    const key = await openSecretKey(join(folder, 'key'));
    expect(await openSecretKey(join(folder, 'key'))).toEqual(key);
    const secrets = new Secrets(registry.secrets, key);
    const { id, sealed } = secrets.add('one', 'API-Key', 'the value', {});
    expect([secrets.valueOf('one', 'api-key'), Buffer.from(sealed).includes('the value')]).toEqual(['the value', false]);
    expect(() => secrets.valueOf('two', 'api-key')).toThrow('not found');
    expect(() => secrets.add('one', 'api-key', 'x', {})).toThrow('exists');
    expect(secrets.update('one', id, 'second', undefined).version).toBe(2);
    expect(secrets.valueOf('one', id)).toBe('second');
    registry.secrets.change(secrets.add('one', 'other', 'x', {}).id, { sealed });
    expect(() => secrets.valueOf('one', 'other')).toThrow();
    registry.close();
  }));

test('a volume has files of bounded size, and a failed change leaves nothing', () =>
  withFolder(async (folder) => {
    const open = () => new VolumeFiles(join(folder, 'v.db'), { bytes: 300_000, entries: 6 });
    const files = open();
    files.mkdir('/d', 0o755);
    files.create('/d/f', 0o644);
    files.write('/d/f', 70_000, Buffer.from('end'));
    expect([files.stat('/d/f').size, Buffer.from(files.read('/d/f', 69_998, 10)).toString('latin1')]).toEqual([
      70_003,
      '\0\0end',
    ]);
    expect(() => files.write('/d/f', 0, Buffer.alloc(300_001))).toThrow('ENOSPC');
    expect(files.stat('/d/f').size).toBe(70_003);
    files.truncate('/d/f', 70_001);
    files.truncate('/d/f', 70_003);
    expect(Buffer.from(files.read('/d/f', 70_000, 3)).toString('latin1')).toBe('e\0\0');
    files.symlink('f', '/d/l');
    expect(files.readlink('/d/l')).toBe('f');
    for (const [call, code] of [
      [() => files.remove('/d'), 'ENOTEMPTY'],
      [() => files.remove('/'), 'EBUSY'],
      [() => files.create('/d/f', 0), 'EEXIST'],
      [() => files.mkdir('/x/y', 0), 'ENOENT'],
      [() => files.entry('/../x'), 'EINVAL'],
      [() => files.read('/d', 0, 1), 'EISDIR'],
      [() => files.entry('/d/f/x'), 'ENOTDIR'],
      [() => files.rename('/d', '/d/e'), 'EINVAL'],
      [() => files.create(`/${'n'.repeat(256)}`, 0), 'ENAMETOOLONG'],
    ] as const) {
      expect(call).toThrow(code);
    }
    files.create('/a', 0o600);
    files.rename('/a', '/d/f');
    expect([files.stat('/d/f').size, files.entries('/').map(({ name }) => name)]).toEqual([0, ['d']]);
    files.create('/one', 0);
    files.create('/two', 0);
    expect(() => files.create('/three', 0)).toThrow('ENOSPC');
    files.removeAll('/d');
    files.close();
    const again = open();
    expect(again.entries('/').map(({ name }) => name)).toEqual(['one', 'two']);
    again.write('/one', 0, Buffer.alloc(300_000));
    again.close();
  }));
