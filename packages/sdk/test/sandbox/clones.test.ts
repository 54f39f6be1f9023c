// Tests clones and restored runtimes: their bindings, mounts, app file systems, children, pipes and
// connections.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMemoryFileSystem, NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { disposeAll, evaluate, runnerOf, until, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

let hostPath = '';
beforeAll(() => {
  hostPath = mkdtempSync(join(tmpdir(), 'coldframe-mount-'));
  writeFileSync(join(hostPath, 'a.txt'), 'from the host');
});
afterAll(() => rmSync(hostPath, { recursive: true, force: true }));

const anything = { description: 'x', inputSchema: true, command: false } as const;

describe.each(MODES)('$name', (mode) => {
  test('a clone has the bindings of its source, and a restored runtime has the bindings of its options', () =>
    withRuntime(mode, { bindings: { whoami: { ...anything, handler: () => 'ann' } } }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const call = (name: string) => `await callBinding('${name}').catch((error) => error.code)`;
      expect(await evaluate(runner, call('whoami'))).toBe('ann');
      const snapshot = await runtime.snapshot();
      const copy = await runtime.clone();
      const restored = await NodeRuntime.create({
        snapshot,
        bindings: { whoami: { ...anything, handler: () => 'bob' }, other: { ...anything, handler: () => 'other' } },
      });
      const bare = await NodeRuntime.create({ snapshot });
      try {
        expect(await evaluate(await runnerOf(copy), call('whoami'))).toBe('ann');
        expect(await evaluate(await runnerOf(restored), `${call('whoami')}, ${call('other')}`)).toBe('bob other');
        expect(await evaluate(await runnerOf(bare), call('whoami'))).toBe('ERR_BINDING_NOT_FOUND');
        await bare.registerBindings({ whoami: { ...anything, handler: () => 'carl' } });
        expect(await evaluate(await runnerOf(bare), call('whoami'))).toBe('carl');
        expect(await evaluate(runner, call('whoami'))).toBe('ann');
      } finally {
        await disposeAll([copy, restored, bare]);
      }
    }));

  test('a running call of a binding rejects in the clone and continues in the original', () => {
    let calls = 0;
    let respond = (_: string): void => {};
    const handler = () => {
      calls++;
      return new Promise<string>((resolve) => {
        respond = resolve;
      });
    };
    return withRuntime(mode, { bindings: { slow: { ...anything, handler } } }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      // The snippet ends when its call ends. In the clone the call ends immediately. In the
      // original runtime the call ends when the handler returns.
      const evaluation = runner.exec(`globalThis.received = await callBinding('slow').catch(() => 'rejected');`);
      await until(() => calls === 1);
      const copy = await runtime.clone();
      try {
        expect(await evaluate(await runnerOf(copy), 'received')).toBe('rejected');
        respond('value');
        expect(await evaluation).toMatchObject({ exitCode: 0 });
        expect(await evaluate(runner, 'received')).toBe('value');
        expect(calls).toBe(1);
      } finally {
        await copy.dispose();
      }
    });
  });

  test('serves binding calls of a clone before clone() resolves', () =>
    withRuntime(mode, { bindings: { echo: { ...anything, handler: (input) => input } } }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`process.on('coldframe:restore', () => { globalThis.early = callBinding('echo', 'at once'); });`);
      const copies = await runtime.clone(8);
      try {
        for (const copy of copies) expect(await evaluate(await runnerOf(copy), 'await early')).toBe('at once');
      } finally {
        await disposeAll(copies);
      }
    }));

  test('a clone has the mounts of its source, and a restore needs the mounts as options', () => {
    const fileSystem = createMemoryFileSystem();
    fileSystem.create('/b.txt', 0o644);
    fileSystem.write('/b.txt', 0, Buffer.from('from the app'));
    const mounts = [
      { guestPath: '/host', hostPath },
      { guestPath: '/app', fileSystem },
    ];
    return withRuntime(mode, { mounts }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`globalThis.fs = await import('node:fs');
        globalThis.open = fs.openSync('/host/a.txt');`);
      const read = `fs.readFileSync('/host/a.txt') + ',' + fs.readFileSync('/app/b.txt') + ',' + fs.fstatSync(open).size`;
      const snapshot = await runtime.snapshot();
      const copy = await runtime.clone();
      const restored = await NodeRuntime.create({ snapshot, mounts });
      try {
        for (const target of [copy, restored])
          expect(await evaluate(await runnerOf(target), read)).toBe('from the host,from the app,13');
      } finally {
        await disposeAll([copy, restored]);
      }
      const lacks = (missing: string) => ({ code: 'ERR_SNAPSHOT_LACKS', missing });
      await expect(NodeRuntime.create({ snapshot })).rejects.toMatchObject(lacks('/host'));
      await expect(NodeRuntime.create({ snapshot, mounts: mounts.slice(0, 1) })).rejects.toMatchObject(lacks('/app'));
      await runtime.rollback(snapshot);
      expect(await evaluate(runner, read)).toBe('from the host,from the app,13');
    });
  });

  test('children, pipes and inner connections continue in the clone', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`
        const { spawn } = await import('node:child_process');
        const net = await import('node:net');
        globalThis.child = spawn(
          'node',
          ['-e', 'process.stdin.on("data", (d) => process.stdout.write(String(d).toUpperCase()))'],
          { stdio: ['pipe', 'pipe', 'ignore'] },
        );
        // A timer keeps the process alive, because the sources do not.
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
        const copied = await runnerOf(copy);
        const identity = ({ pid, ppid, command }: { pid: number; ppid: number; command: string }) => [pid, ppid, command];
        expect((await copy.processes()).map(identity)).toEqual(before.map(identity));
        for (const target of [copied, runner]) {
          expect(await evaluate(target, '(child.stdin.write("abc"), await next(child.stdout))')).toBe('ABC');
          expect(await evaluate(target, '(socket.write("x"), await next(socket))')).toBe('echo x');
        }
        await evaluate(copied, 'child.kill()');
        await until(async () => (await copy.processes()).length === 1);
        expect((await runtime.processes()).length).toBe(2);
      } finally {
        await copy.dispose();
      }
    }));

  test('a connection of the app is reset in the clone, and the server keeps listening', () =>
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
        const copied = await runnerOf(copy);
        expect(await evaluate(copied, 'await afterClose()')).toBe('ECONNRESET,close');
        expect(await evaluate(runner, 'ends.length')).toBe('0');
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

  test('passes limit warnings of a clone to the listener of its source', () => {
    const received: string[] = [];
    return withRuntime(
      mode,
      { limits: { inodes: 100 }, onLimitWarning: ({ limit }) => received.push(limit) },
      async (runtime) => {
        const copy = await runtime.clone();
        try {
          for (let at = 0; at < 90; at++) await copy.writeFile(`/workspace/${at}`, '');
          await until(() => received.includes('inodes'));
        } finally {
          await copy.dispose();
        }
      },
    );
  });

  test('refuses limits that are smaller than the use in the snapshot', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.writeFile('/workspace/large', new Uint8Array(1_000_000));
      const snapshot = await runtime.snapshot();
      await expect(NodeRuntime.create({ snapshot, limits: { filesystemBytes: 1_000 } })).rejects.toMatchObject({
        code: 'ERR_RESOURCE_EXHAUSTED',
        limit: 1_000,
      });
    }));
});
