// Uses foreign snapshots: of another tenant, damaged, forged. Looks for state that a restore, a
// rollback or a clone must not keep.

import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeRuntime } from '../../../../../src/index.js';
import type { EscapeCase, Theme } from '../../harness/case.js';
import type { CaseFolders } from '../../harness/folders.js';
import type { Place } from '../../harness/place.js';

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error) => String(error.code ?? error),
  );

const output = async (runtime: NodeRuntime, code: string): Promise<string> => {
  const { stdout, stderr, error } = await runtime.exec(code, { timeout: 10_000 });
  return (stdout + (error?.code ?? '') + stderr.slice(0, 300)).trim();
};

/** A call of a tenant with an id, a name or a digest of a snapshot of another tenant. */
type Use = (runtime: NodeRuntime, id: string, place: Place, folders: CaseFolders) => Promise<unknown>;

const USES: Record<string, Use> = {
  get: (runtime, id) => runtime.snapshots.get(id),
  delete: (runtime, id) => runtime.snapshots.delete(id),
  export: (runtime, id, _place, { root }) => runtime.snapshots.export(id, join(root, 'stolen')),
  rollback: (runtime, id) => runtime.rollback(id),
  restore: (_runtime, id, place) => place.create({ snapshot: id }),
  'restore as a tenant with a similar name': (_runtime, id, place) =>
    place.create({ snapshot: id, tenant: 'neighbour-tenant\0' }),
};

const tenants = Object.entries(USES).map(
  ([name, use]): EscapeCase => ({
    name: `snapshots: another tenant's snapshot is not found: ${name}`,
    attack: async (runtime, folders, place) => {
      const { id, name: called, digest } = place.snapshot;
      const ids = [id, called, digest, id.toUpperCase(), digest.slice(0, 12), `../${id}`, `neighbour-tenant/${id}`, '*', ''];
      const codes = [];
      for (const one of ids) codes.push(await codeOf(use(runtime, one, place, folders)));
      // Texts that are no ids, names or digests are refused before the search.
      return [...new Set(codes)].filter((code) => code !== 'ERR_INVALID_OPTION').join();
    },
    expected: name.startsWith('restore as') ? '' : 'ERR_SNAPSHOT_NOT_FOUND',
  }),
);

/** Exports a snapshot of a runtime with a secret file, and returns the bytes of the file. */
async function exported(runtime: NodeRuntime, { root }: CaseFolders): Promise<Buffer> {
  await runtime.writeFile('/workspace/kept', 'kept');
  const path = join(root, 'own');
  await (await runtime.snapshot()).export(path);
  return readFileSync(path);
}

/** A case that imports changed bytes of a snapshot, and works afterwards. */
const imported = (name: string, change: (bytes: Buffer) => Buffer[], expected: string | RegExp): EscapeCase => ({
  name: `snapshots: ${name}`,
  attack: async (runtime, folders) => {
    const codes = new Set<string>();
    for (const bytes of change(await exported(runtime, folders))) {
      const path = join(folders.root, 'changed');
      writeFileSync(path, bytes);
      codes.add(await codeOf(runtime.snapshots.import(path)));
    }
    return `${[...codes].sort().join()} ${await output(runtime, `console.log('works')`)}`;
  },
  expected,
});

const changed = (bytes: Buffer, at: number, xor = 0xff): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ xor;
  return copy;
};

const files: EscapeCase[] = [
  imported(
    'a shortened file is refused at every length',
    (bytes) =>
      [
        0,
        1,
        7,
        8,
        16,
        47,
        48,
        64,
        95,
        96,
        97,
        200,
        4_095,
        4_096,
        4_097,
        bytes.length >> 1,
        bytes.length - 4_096,
        bytes.length - 1,
      ].map((length) => bytes.subarray(0, length)),
    'ERR_SNAPSHOT_DAMAGED works',
  ),
  imported(
    'a changed byte of the head is refused',
    (bytes) => Array.from({ length: 120 }, (_, at) => changed(bytes, at)),
    'ERR_SNAPSHOT_DAMAGED,ERR_SNAPSHOT_FOREIGN works',
  ),
  imported(
    'a changed bit anywhere is refused',
    (bytes) => Array.from({ length: 80 }, (_, n) => changed(bytes, Math.floor((n * bytes.length) / 80), 1)),
    'ERR_SNAPSHOT_DAMAGED works',
  ),
  imported(
    'bytes behind the end are refused',
    (bytes) => [Buffer.concat([bytes, Buffer.alloc(1)]), Buffer.concat([bytes, bytes])],
    'ERR_SNAPSHOT_DAMAGED works',
  ),
  imported(
    'a file of zeros, of ones or of text is refused',
    () => [
      Buffer.alloc(8_192),
      Buffer.alloc(8_192, 0xff),
      Buffer.from('#!/bin/sh\n'.repeat(1_000)),
      Buffer.from('{"version":1}'),
    ],
    'ERR_SNAPSHOT_DAMAGED works',
  ),
  imported(
    'sizes of 2^63 in the head are refused',
    (bytes) =>
      [48, 52, 56, 60, 64, 72, 80].map((at) => {
        const copy = Buffer.from(bytes);
        copy.writeBigUInt64LE(2n ** 63n, at);
        return copy;
      }),
    'ERR_SNAPSHOT_DAMAGED works',
  ),
  imported(
    'other versions are refused',
    (bytes) =>
      [0, 1, 2, 255, 65_535].flatMap((version) =>
        [8, 10, 12]
          .map((at) => {
            const copy = Buffer.from(bytes);
            copy.writeUInt16LE(version, at);
            return copy;
          })
          .filter((copy) => !copy.equals(bytes)),
      ),
    'ERR_SNAPSHOT_FOREIGN works',
  ),
  {
    name: 'snapshots: parts of two snapshots do not make a third',
    attack: async (runtime, folders) => {
      const one = await exported(runtime, folders);
      await runtime.writeFile('/workspace/other', Buffer.alloc(20_000, 'other'));
      const two = await exported(runtime, folders);
      const codes = new Set<string>();
      for (const at of [48, 96, 4_096, 8_192, 12_288]) {
        const path = join(folders.root, 'mixed');
        writeFileSync(path, Buffer.concat([one.subarray(0, at), two.subarray(at)]));
        codes.add(await codeOf(runtime.snapshots.import(path)));
      }
      return [...codes].join();
    },
    expected: 'ERR_SNAPSHOT_DAMAGED',
  },
  {
    name: 'snapshots: a path that is no file is refused',
    options: {},
    attack: async (runtime, { root }) => {
      mkdirSync(join(root, 'folder'));
      symlinkSync('/dev/zero', join(root, 'zero'));
      const codes = [];
      for (const name of ['folder', 'none', 'zero']) codes.push(await codeOf(runtime.snapshots.import(join(root, name))));
      return codes.join();
    },
    expected: 'ERR_SNAPSHOT_DAMAGED,ERR_SNAPSHOT_FILE,ERR_SNAPSHOT_DAMAGED',
  },
  {
    name: "snapshots: a file in the store under the neighbour's id does not change the neighbour's snapshot",
    attack: async (runtime, { parent }, place) => {
      const store = join(parent.root, 'data/coldframe/snapshots');
      const own = await runtime.snapshot({ store: 'disk' });
      const names = readdirSync(store);
      const of = (id: string): string => names.find((name) => name.includes(id)) ?? '';
      const [mine, theirs] = [of(own.id), of(place.snapshot.id)];
      const forged = join(store, mine.replace(own.id, 'snap-00000000000000000000000000'));
      copyFileSync(join(store, theirs), forged);
      const listed = await runtime.snapshots.list();
      const code = await codeOf(runtime.rollback('snap-00000000000000000000000000'));
      const { rmSync } = await import('node:fs');
      rmSync(forged, { force: true });
      await own.delete();
      return `${mine !== theirs} ${listed.some(({ id }) => id === place.snapshot.id)} ${code}`;
    },
    expected: 'true false ERR_SNAPSHOT_DAMAGED',
  },
  {
    name: "snapshots: a file that the neighbour's tenant exported is a guest and no more",
    attack: async (runtime, _folders, place) => {
      const snapshot = await runtime.snapshots.import(place.snapshot.path);
      const text = `${snapshot.tenant} ${snapshot.id === place.snapshot.id}`;
      const restored = await place.create({ snapshot, limits: { processes: 2 } });
      const seen = await output(
        restored,
        `import net from 'node:net'; import fs from 'node:fs';
console.log(fs.readdirSync('/').includes('m'), await new Promise((resolve) => net.connect({ host: '127.0.0.1',
port: 4101 }).on('error', (error) => resolve(error.code))));`,
      );
      await restored.dispose();
      await snapshot.delete();
      return `${text} ${seen}`;
    },
    expected: 'default true false ECONNREFUSED',
  },
  {
    name: 'snapshots: hostile names and labels are refused or stay text',
    attack: async (runtime) => {
      const names = [
        '../../evil',
        '/etc/evil',
        'a\0b',
        '.',
        '..',
        'x'.repeat(201),
        '\n\x1b[2J',
        '__proto__',
        'snap-00000000000000000000000000',
        '',
      ];
      const codes = [];
      for (const name of names) {
        const [snapshot] = await Promise.allSettled([runtime.snapshot({ name, labels: { constructor: name }, store: 'disk' })]);
        codes.push(
          snapshot?.status === 'fulfilled'
            ? String((await runtime.snapshots.get(name)).id === snapshot.value.id)
            : snapshot?.reason.code,
        );
        if (snapshot?.status === 'fulfilled') await snapshot.value.delete();
      }
      return codes.join();
    },
    expected: 'true,true,ERR_INVALID_OPTION,true,true,ERR_INVALID_OPTION,true,true,ERR_INVALID_OPTION,ERR_INVALID_OPTION',
  },
];

const kept: EscapeCase[] = [
  {
    name: 'snapshots: a secret from after the snapshot is not in memory, files or environment after a rollback',
    attack: async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`globalThis.fs = await import('node:fs'); globalThis.parts = [];`);
      const before = await runtime.snapshot();
      await runner.exec(`globalThis.secret = ['later', 'secret', 'value'].join('-').repeat(20000); fs.writeFileSync('s', secret);
process.env.S = 'later-secret';
for (let n = 0; n < 50; n++) parts.push(Buffer.alloc(65536, 'later-secret-value'));`);
      await runtime.rollback(before);
      const { stdout } = await runner.exec(`let found = 0;
const needle = Buffer.from(['later', 'secret'].join('-'));
for (let n = 0; n < 200; n++) { const part = Buffer.allocUnsafeSlow(65536); if (part.indexOf(needle) >= 0) found++;
parts.push(part); }
console.log(typeof secret, process.env.S, fs.existsSync('s'), found, fs.readdirSync('.').length);`);
      return stdout.trim();
    },
    expected: 'undefined undefined false 0 0',
  },
  {
    name: 'snapshots: clones share no memory, files, sockets or descriptors',
    attack: async (runtime, _folders) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`globalThis.fs = await import('node:fs'); globalThis.net = await import('node:net');
globalThis.shared = new Int32Array(new SharedArrayBuffer(64)); globalThis.fd = fs.openSync('f', 'w+');
globalThis.server = net.createServer((socket) => socket.end(String(shared[0])));
await new Promise((resolve) => server.listen(4000, resolve)); server.unref();`);
      const copies = await runtime.clone(4);
      const runners = await Promise.all(copies.map(async (copy) => (await copy.residentRunners())[0]));
      await Promise.all(runners.map((one, at) => one?.exec(`shared[0] = ${at + 1}; fs.writeSync(fd, '${'abcd'[at]}');`)));
      const seen = await Promise.all(
        runners.map((one) =>
          one?.exec(`const text = await new Promise((resolve) => { let all = ''; net.connect(4000).on('data',
(data) => { all += data; }).on('end', () => resolve(all)); });
console.log(shared[0], fs.readFileSync('f', 'utf8'), text);`),
        ),
      );
      await Promise.all(copies.map((copy) => copy.dispose()));
      return seen.map((result) => result?.stdout.trim()).join();
    },
    expected: '1 a 1,2 b 2,3 c 3,4 d 4',
  },
  {
    name: 'snapshots: restored copies draw different random numbers, keys and identifiers',
    attack: async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`globalThis.crypto2 = await import('node:crypto'); crypto2.randomUUID(); Math.random();`);
      const copies = await runtime.clone(6);
      const texts = await Promise.all(
        copies.map(async (copy) => {
          const [one] = await copy.residentRunners();
          return (
            (
              await one?.exec(
                `console.log([Math.random(), crypto2.randomUUID(), crypto2.randomBytes(8).toString('hex'),
crypto.getRandomValues(new Uint32Array(2)).join('.'), crypto2.randomInt(2 ** 40),
crypto2.generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x].join(' '))`,
              )
            )?.stdout.trim() ?? ''
          );
        }),
      );
      await Promise.all(copies.map((copy) => copy.dispose()));
      return [0, 1, 2, 3, 4, 5].map((at) => new Set(texts.map((text) => text.split(' ')[at])).size).join();
    },
    expected: '6,6,6,6,6,6',
  },
  {
    name: 'snapshots: a paused runtime answers nothing and keeps no memory for others',
    attack: async (runtime, _folders, place) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`globalThis.secret = Buffer.alloc(1 << 20, 'paused-secret');`);
      const snapshot = await runtime.pause();
      const codes = [
        await codeOf(runner.exec('1')),
        await codeOf(runtime.readFile('/workspace/x')),
        await codeOf(runtime.fetch(3000)),
      ];
      const other = await place.create();
      const found = await output(
        other,
        `let found = 0; for (let n = 0; n < 200; n++) if (Buffer.allocUnsafeSlow(65536).includes('paused-secret')) found++;
console.log(found);`,
      );
      await runtime.resume();
      const { stdout } = await runner.exec(`console.log(String(secret.subarray(0, 13)))`);
      await snapshot.delete();
      return `${codes.join()} ${found} ${stdout.trim()}`;
    },
    expected: 'ERR_RUNTIME_PAUSED,ERR_RUNTIME_PAUSED,ERR_RUNTIME_PAUSED 0 paused-secret',
  },
  {
    name: 'snapshots: lower limits and permissions of a restore hold for restored programs',
    attack: async (runtime, _folders, place) => {
      const runner = await runtime.createResidentRunner();
      await runtime.writeFile('/workspace/secret', 'top-secret');
      await runner.exec(`globalThis.fs = await import('node:fs'); globalThis.childProcess = await import('node:child_process');`);
      const snapshot = await runtime.snapshot();
      const restored = await place.create({
        snapshot,
        limits: { filesystemBytes: 1 << 20, processes: 1 },
        permissions: { fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/workspace/secret'] }] } },
      });
      const [copy] = await restored.residentRunners();
      const result =
        await copy?.exec(`const tried = (work) => { try { return String(work() ?? 'done'); } catch (error) { return error.code;
} };
console.log(tried(() => fs.readFileSync('secret')), tried(() => fs.writeFileSync('large', Buffer.alloc(4 << 20))),
childProcess.spawnSync('node', ['-p', '1']).error?.code);`);
      await restored.dispose();
      await snapshot.delete();
      return result?.stdout.trim() ?? '';
    },
    expected: 'EACCES ENOSPC EAGAIN',
  },
  {
    name: 'snapshots: rollbacks during writes, reads and calls leave one state',
    attack: async (runtime) => {
      await runtime.writeFile('/workspace/f', 'before');
      const before = await runtime.snapshot();
      const codes = new Set<string>();
      for (let n = 0; n < 10; n++) {
        const calls = [
          runtime.writeFile('/workspace/f', 'x'.repeat(100_000)),
          runtime.exec(`import fs from 'node:fs'; for (let n = 0; n < 200; n++) fs.writeFileSync('f', 'y'.repeat(5000));`),
          runtime.readFile('/workspace/f').then((bytes) => {
            if (!['b', 'x', 'y'].includes(String.fromCharCode(bytes[0] ?? 0)) && bytes.length > 0)
              codes.add(`torn ${bytes.length}`);
          }),
        ];
        await runtime.rollback(before);
        for (const result of await Promise.allSettled(calls)) if (result.status === 'rejected') codes.add(result.reason.code);
        await runtime.rollback(before);
        const text = Buffer.from(await runtime.readFile('/workspace/f')).toString();
        if (text !== 'before') codes.add(`kept ${text.slice(0, 10)}`);
      }
      await before.delete();
      return [...codes].filter((code) => code !== 'ERR_ROLLED_BACK').join();
    },
    expected: '',
  },
  {
    name: 'snapshots: a loop of snapshots of a large program does not grow the store beyond its names',
    attack: async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`globalThis.all = Buffer.alloc(8 << 20, 1);`);
      const ids = new Set<string>();
      for (let n = 0; n < 20; n++) {
        await runner.exec(`all[${n} * 4096] = 2;`);
        const snapshot = await runtime.snapshot();
        ids.add(snapshot.id);
        await snapshot.delete();
      }
      return `${ids.size} ${(await runtime.snapshots.list()).length}`;
    },
    expected: '20 0',
  },
];

export const snapshots: Theme = { name: 'snapshots', cases: [...tenants, ...files, ...kept] };
