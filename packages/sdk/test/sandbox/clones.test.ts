// What a copy has around it: bindings, mounts, file systems of the app's, children, pipes and connections; and what it has no longer.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMemoryFileSystem, NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { ask, disposeAll, inFolderOfItsOwn, runnerOf, until } from './snapshot-helpers.js';

inFolderOfItsOwn();

let hostPath = '';
beforeAll(() => {
  hostPath = mkdtempSync(join(tmpdir(), 'coldframe-mount-'));
  writeFileSync(join(hostPath, 'a.txt'), 'from the host');
});
afterAll(() => rmSync(hostPath, { recursive: true, force: true }));

const anything = { description: 'x', inputSchema: true, command: false } as const;

describe.each(MODES)('$name', (mode) => {
  test('copies call the bindings of their source; a runtime from a snapshot those that it is given', () =>
    withRuntime(mode, { bindings: { whoami: { ...anything, handler: () => 'ann' } } }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const call = (name: string) => `await callBinding('${name}').catch((error) => error.code)`;
      expect(await ask(runner, call('whoami'))).toBe('ann');
      const snapshot = await runtime.snapshot();
      const copy = await runtime.clone();
      const given = await NodeRuntime.create({
        snapshot,
        bindings: { whoami: { ...anything, handler: () => 'bob' }, other: { ...anything, handler: () => 'other' } },
      });
      const bare = await NodeRuntime.create({ snapshot });
      try {
        expect(await ask(await runnerOf(copy), call('whoami'))).toBe('ann');
        expect(await ask(await runnerOf(given), `${call('whoami')}, ${call('other')}`)).toBe('bob other');
        expect(await ask(await runnerOf(bare), call('whoami'))).toBe('ERR_BINDING_NOT_FOUND');
        await bare.registerBindings({ whoami: { ...anything, handler: () => 'carl' } });
        expect(await ask(await runnerOf(bare), call('whoami'))).toBe('carl');
        expect(await ask(runner, call('whoami'))).toBe('ann');
      } finally {
        await disposeAll([copy, given, bare]);
      }
    }));

  test('a call of a binding that is under way rejects in the copy, and goes on in the original', () => {
    let calls = 0;
    let answer = (_: string): void => {};
    const handler = () => {
      calls++;
      return new Promise<string>((resolve) => {
        answer = resolve;
      });
    };
    return withRuntime(mode, { bindings: { slow: { ...anything, handler } } }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      // It is over when the call is: in the copy at once, in the original when the app has answered.
      const begun = runner.exec(`globalThis.told = await callBinding('slow').catch(() => 'rejected');`);
      await until(() => calls === 1);
      const copy = await runtime.clone();
      try {
        expect(await ask(await runnerOf(copy), 'told')).toBe('rejected');
        answer('value');
        expect(await begun).toMatchObject({ exitCode: 0 });
        expect(await ask(runner, 'told')).toBe('value');
        expect(calls).toBe(1);
      } finally {
        await copy.dispose();
      }
    });
  });

  test('what a copy asks before the app knows of it is answered', () =>
    withRuntime(mode, { bindings: { echo: { ...anything, handler: (input) => input } } }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`process.on('coldframe:restore', () => { globalThis.early = callBinding('echo', 'at once'); });`);
      const copies = await runtime.clone(8);
      try {
        for (const copy of copies) expect(await ask(await runnerOf(copy), 'await early')).toBe('at once');
      } finally {
        await disposeAll(copies);
      }
    }));

  test('mounts and file systems of the app are given to copies, and must be brought to a snapshot', () => {
    const fileSystem = createMemoryFileSystem();
    fileSystem.create('/b.txt', 0o644);
    fileSystem.write('/b.txt', 0, Buffer.from('from the app'));
    const given = [
      { guestPath: '/host', hostPath },
      { guestPath: '/app', fileSystem },
    ];
    return withRuntime(mode, { mounts: given }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`globalThis.fs = await import('node:fs');
        globalThis.open = fs.openSync('/host/a.txt');`);
      const read = `fs.readFileSync('/host/a.txt') + ',' + fs.readFileSync('/app/b.txt') + ',' + fs.fstatSync(open).size`;
      const snapshot = await runtime.snapshot();
      const copy = await runtime.clone();
      const brought = await NodeRuntime.create({ snapshot, mounts: given });
      try {
        for (const one of [copy, brought]) expect(await ask(await runnerOf(one), read)).toBe('from the host,from the app,13');
      } finally {
        await disposeAll([copy, brought]);
      }
      const lacks = (missing: string) => ({ code: 'ERR_SNAPSHOT_LACKS', missing });
      await expect(NodeRuntime.create({ snapshot })).rejects.toMatchObject(lacks('/host'));
      await expect(NodeRuntime.create({ snapshot, mounts: given.slice(0, 1) })).rejects.toMatchObject(lacks('/app'));
      await runtime.rollback(snapshot);
      expect(await ask(runner, read)).toBe('from the host,from the app,13');
    });
  });

  test('children, pipes and connections within go on in the copy', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`
        const { spawn } = await import('node:child_process');
        const net = await import('node:net');
        globalThis.child = spawn('node', ['-e', 'process.stdin.on("data", (d) => process.stdout.write(String(d).toUpperCase()))'], {
          stdio: ['pipe', 'pipe', 'ignore'],
        });
        // What it listens to does not keep the process alive; a timer does meanwhile.
        globalThis.next = async (from) => {
          const timer = setTimeout(() => {}, 20_000);
          const data = await new Promise((resolve) => from.once('data', resolve));
          clearTimeout(timer);
          return String(data);
        };
        const server = net.createServer((socket) => socket.unref().on('data', (data) => socket.write('echo ' + data)));
        await new Promise((resolve) => server.listen(3000, resolve));
        globalThis.socket = net.connect(3000);
        await new Promise((resolve) => socket.once('connect', resolve));
        server.unref(); socket.unref(); child.unref(); child.stdin.unref(); child.stdout.unref();
      `);
      await until(async () => (await runtime.processes()).length === 2);
      const before = await runtime.processes();
      const copy = await runtime.clone();
      try {
        const twin = await runnerOf(copy);
        const known = ({ pid, ppid, command }: { pid: number; ppid: number; command: string }) => [pid, ppid, command];
        expect((await copy.processes()).map(known)).toEqual(before.map(known));
        for (const one of [twin, runner]) {
          expect(await ask(one, '(child.stdin.write("abc"), await next(child.stdout))')).toBe('ABC');
          expect(await ask(one, '(socket.write("x"), await next(socket))')).toBe('echo x');
        }
        await ask(twin, 'child.kill()');
        await until(async () => (await copy.processes()).length === 1);
        expect((await runtime.processes()).length).toBe(2);
      } finally {
        await copy.dispose();
      }
    }));

  test('a connection from outside is reset in the copy, whose server listens on', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`
        globalThis.ends = [];
        let closed;
        const over = new Promise((resolve) => { closed = resolve; });
        globalThis.afterClose = async () => {
          const timer = setTimeout(() => {}, 20_000);
          await over;
          clearTimeout(timer);
          return ends.join();
        };
        const net = await import('node:net');
        globalThis.server = net.createServer((socket) => {
          socket.unref();
          socket.on('error', (error) => ends.push(error.code));
          socket.on('close', () => ends.push('close') && closed());
          socket.on('data', (data) => socket.write('echo ' + data));
        });
        await new Promise((resolve) => server.listen(3000, resolve));
        server.unref();
      `);
      const stream = runtime.connect({ port: 3000 });
      const next = () => new Promise<string>((resolve) => stream.once('data', (data) => resolve(String(data))));
      stream.write('a');
      expect(await next()).toBe('echo a');
      const copy = await runtime.clone();
      try {
        const twin = await runnerOf(copy);
        expect(await ask(twin, 'await afterClose()')).toBe('ECONNRESET,close');
        expect(await ask(runner, 'ends.length')).toBe('0');
        stream.write('b');
        expect(await next()).toBe('echo b');
        const other = copy.connect({ port: 3000 });
        const echoed = new Promise<string>((resolve) => other.once('data', (data) => resolve(String(data))));
        other.write('c');
        expect(await echoed).toBe('echo c');
        other.destroy();
      } finally {
        stream.destroy();
        await copy.dispose();
      }
    }));

  test('warnings of a copy are told like those of its source', () => {
    const told: string[] = [];
    return withRuntime(mode, { limits: { inodes: 100 }, onLimitWarning: ({ limit }) => told.push(limit) }, async (runtime) => {
      const copy = await runtime.clone();
      try {
        for (let at = 0; at < 90; at++) await copy.writeFile(`/workspace/${at}`, '');
        await until(() => told.includes('inodes'));
      } finally {
        await copy.dispose();
      }
    });
  });

  test('limits that are narrower than what the snapshot holds are refused by name', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.writeFile('/workspace/large', new Uint8Array(1_000_000));
      const snapshot = await runtime.snapshot();
      await expect(NodeRuntime.create({ snapshot, limits: { filesystemBytes: 1_000 } })).rejects.toMatchObject({
        code: 'ERR_RESOURCE_EXHAUSTED',
        limit: 1_000,
      });
    }));
});
