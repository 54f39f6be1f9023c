// Documented behaviour of the class API of secure-exec 0.3.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { NodeRuntime, type NodeRuntimeBootTiming, Sidecar } from '../../../src/secure-exec/index.js';
import { type Case, SERVER, withFolder, withRuntime } from './cases.js';

/** The home of the user that secure-exec runs programs as. */
const HOME = '/root';
const ALLOWED = { permissions: { network: 'allow' } } as const;
const ADD = {
  description: 'the sum of two numbers',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  handler: async ({ a, b }: { a: number; b: number }) => {
    if (a < 0) throw new RangeError('too small');
    return a + b;
  },
};

async function addPackage(folder: string, name: string): Promise<void> {
  await mkdir(join(folder, name));
  await writeFile(join(folder, name, 'index.js'), `module.exports = 'package ${name}';`);
}

export const CLASS_CHECKS: readonly Case[] = [
  {
    name: 'the working directory is /workspace, and the environment has only the variables of the option',
    check: () =>
      withRuntime({ env: { GIVEN: 'yes' } }, async (runtime) => {
        const { value } = await runtime.run(`__return([process.cwd(), process.env.GIVEN, 'VITEST' in process.env])`);
        expect([value, process.env['VITEST']]).toEqual([['/workspace', 'yes', false], 'true']);
      }),
  },
  {
    name: '`files` has text and bytes, and missing directories are made',
    check: () =>
      withRuntime({ files: { '/a/b/text': 'text', '/a/c/bytes': Uint8Array.of(1, 255) } }, async (runtime) => {
        const { stdout } = await runtime.exec(`
          import { readFileSync } from 'node:fs';
          console.log(readFileSync('/a/b/text', 'utf8'), [...readFileSync('/a/c/bytes')]);
        `);
        expect(stdout).toBe('text [ 1, 255 ]\n');
      }),
  },
  {
    name: 'mounts are read-only, unless `readOnly` is false',
    check: () =>
      withFolder(async (folder) => {
        const mounts = [
          { guestPath: '/closed', hostPath: folder },
          { guestPath: '/open', hostPath: folder, readOnly: false },
        ];
        await withRuntime({ mounts }, async (runtime) => {
          const { stdout } = await runtime.exec(`
            import { writeFileSync } from 'node:fs';
            try { writeFileSync('/closed/a', '') } catch (error) { console.log(error.code) }
            writeFileSync('/open/a', 'written');
          `);
          expect([stdout, await readFile(join(folder, 'a'), 'utf8')]).toEqual(['EROFS\n', 'written']);
        });
      }),
  },
  {
    name: '`nodeModules` is a folder, or a folder with the guest path /tmp/node_modules',
    check: () =>
      withFolder(async (folder) => {
        await addPackage(folder, 'one');
        for (const nodeModules of [folder, { hostPath: folder }, { hostPath: folder, guestPath: '/tmp/node_modules' }]) {
          await withRuntime({ nodeModules }, async (runtime) => {
            expect((await runtime.exec(`import one from 'one'; console.log(one)`)).stdout).toBe('package one\n');
          });
        }
      }),
  },
  {
    name: 'a package that is mounted in node_modules of /root is found',
    check: () =>
      withFolder(async (folder) => {
        await addPackage(folder, 'one');
        const mounts = [{ guestPath: `${HOME}/node_modules/one`, hostPath: join(folder, 'one') }];
        await withRuntime({ mounts }, async (runtime) => {
          expect((await runtime.exec(`import one from 'one'; console.log(one)`)).stdout).toBe('package one\n');
        });
      }),
  },
  {
    name: '`exec` runs an ES module with imports and top-level await',
    check: () =>
      withRuntime({}, async (runtime) => {
        const code = `import { basename } from 'node:path'; console.log(await basename('/a/b'), import.meta.url)`;
        expect((await runtime.exec(code)).stdout).toMatch(/^b file:\/\//);
      }),
  },
  {
    name: 'each call runs in a new process',
    check: () =>
      withRuntime({}, async (runtime) => {
        await runtime.exec('globalThis.kept = 1');
        expect((await runtime.exec('console.log(typeof kept)')).stdout).toBe('undefined\n');
      }),
  },
  {
    name: 'a failing program has its exit code, and its stack in stderr',
    check: () =>
      withRuntime({}, async (runtime) => {
        const failed = await runtime.exec(`throw new TypeError('wrong')`);
        expect([failed.exitCode, failed.stderr.includes('TypeError: wrong')]).toEqual([1, true]);
        expect((await runtime.exec('process.exit(7)')).exitCode).toBe(7);
      }),
  },
  {
    name: '`run` returns the value of `__return`, and no value without it',
    check: () =>
      withRuntime({}, async (runtime) => {
        expect((await runtime.run<number>('__return(6 * 7)')).value).toBe(42);
        expect(await runtime.run(`console.log('none')`)).toStrictEqual({ stdout: 'none\n', stderr: '', exitCode: 0 });
      }),
  },
  {
    name: '`env`, `cwd` and `stdin` are options of one call',
    check: () =>
      withRuntime({ env: { A: '1', B: '1' }, files: { '/other/file': '' } }, async (runtime) => {
        const code = `
          import { readFileSync } from 'node:fs';
          __return([process.env.A, process.env.B, process.cwd(), readFileSync(0, 'utf8')]);
        `;
        const { value } = await runtime.run(code, { env: { B: '2' }, cwd: '/other', stdin: 'input' });
        expect(value).toEqual(['1', '2', '/other', 'input']);
      }),
  },
  {
    name: 'a program beyond `timeout` resolves with an exit code that is not 0',
    check: () =>
      withRuntime({}, async (runtime) => {
        const { exitCode, stdout } = await runtime.exec(`console.log('begun'); for (;;);`, { timeout: 100 });
        expect([exitCode, stdout]).toEqual([124, 'begun\n']);
      }),
  },
  {
    name: 'an aborted call rejects with the reason of its signal',
    check: () =>
      withRuntime({}, async (runtime) => {
        const reason = new Error('stop');
        await expect(runtime.exec('1', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
        await expect(runtime.execCommand('true', [], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      }),
  },
  {
    name: '`onStdout` receives bytes, and the result has the whole output',
    check: () =>
      withRuntime({}, async (runtime) => {
        const chunks: Uint8Array[] = [];
        const { stdout } = await runtime.exec(`process.stdout.write('ä'); process.stdout.write('b')`, {
          onStdout: (chunk) => chunks.push(chunk),
        });
        expect([Buffer.concat(chunks).toString(), stdout]).toEqual(['äb', 'äb']);
      }),
  },
  {
    name: '`spawn` returns a handle with a pid, and an exit code that is null while the program runs',
    check: () =>
      withRuntime({}, async (runtime) => {
        const child = await runtime.spawn(`process.stdin.on('end', () => process.exit(5)).resume()`);
        expect([child.pid > 0, child.exitCode]).toEqual([true, null]);
        child.closeStdin();
        expect([await child.wait(), child.exitCode]).toEqual([5, 5]);
      }),
  },
  {
    name: '`writeStdin` and `closeStdin` act in the order of the calls',
    check: () =>
      withRuntime({}, async (runtime) => {
        let output = '';
        const child = await runtime.spawn('process.stdin.pipe(process.stdout)', {
          onStdout: (chunk) => {
            output += Buffer.from(chunk).toString();
          },
        });
        child.writeStdin('one ');
        child.writeStdin(Buffer.from('two'));
        child.closeStdin();
        expect([await child.wait(), output]).toEqual([0, 'one two']);
      }),
  },
  {
    name: '`kill` sends SIGTERM, or the signal of its argument by name or number',
    check: () =>
      withRuntime({}, async (runtime) => {
        const kill = async (...signal: [] | [NodeJS.Signals | number]): Promise<number> => {
          const child = await runtime.spawn('setInterval(() => {}, 1000)');
          child.kill(...signal);
          return child.wait();
        };
        expect([await kill(), await kill('SIGKILL'), await kill(9)]).toEqual([143, 137, 137]);
      }),
  },
  {
    name: '`execCommand` runs a command of the guest',
    check: () =>
      withRuntime({}, async (runtime) => {
        const result = await runtime.execCommand('sh', ['-c', 'printf "b\\na\\n" | sort; exit 3']);
        expect(result).toStrictEqual({ stdout: 'a\nb\n', stderr: '', exitCode: 3 });
      }),
  },
  {
    name: '`spawnCommand` returns a handle without a wait',
    check: () =>
      withRuntime({}, async (runtime) => {
        const child = runtime.spawnCommand('cat');
        expect(child.exitCode).toBeNull();
        child.writeStdin('text');
        child.closeStdin();
        expect([await child.wait(), child.pid > 0]).toEqual([0, true]);
        await expect(runtime.spawnCommand('no-such-command').wait()).rejects.toMatchObject({ code: 'ENOENT' });
      }),
  },
  {
    name: '`fetch` sends method, headers and body, and headers of the response are text',
    check: () =>
      withRuntime(ALLOWED, async (runtime) => {
        await runtime.spawn(SERVER);
        await runtime.waitForListener({ port: 3000 });
        const response = await runtime.fetch(3000, { method: 'PUT', path: '/a?b', headers: { 'x-from': 'app' }, body: 'text' });
        expect(response).toMatchObject({ status: 200, statusText: 'OK', body: 'PUT /a?b app text' });
        expect(response.headers).toMatchObject({ 'content-type': 'text/plain', 'set-cookie': 'a=1,b=2' });
      }),
  },
  {
    name: '`waitForListener` resolves with the listener, or rejects after `timeoutMs`',
    check: () =>
      withRuntime(ALLOWED, async (runtime) => {
        const child = await runtime.spawn(SERVER);
        const listener = await runtime.waitForListener({ port: 3000 }, { pollIntervalMs: 5 });
        expect(listener).toMatchObject({ processId: String(child.pid), port: 3000, host: '127.0.0.1' });
        const wait = runtime.waitForListener({ port: 3001 }, { timeoutMs: 20 });
        await expect(wait).rejects.toMatchObject({ code: 'ERR_LISTENER_TIMEOUT' });
      }),
  },
  {
    name: 'the network is denied by default, and a partial policy keeps the other scopes',
    check: async () => {
      const code = `
        import { createServer } from 'node:net';
        import { writeFileSync } from 'node:fs';
        import { execFileSync } from 'node:child_process';
        writeFileSync('/workspace/a', execFileSync('echo', ['child']));
        createServer().on('error', (error) => console.log(error.code)).listen(0, '127.0.0.1', () => process.exit(0));
      `;
      await withRuntime({}, async (runtime) => expect((await runtime.exec(code)).stdout).toBe('EACCES\n'));
      await withRuntime(ALLOWED, async (runtime) => expect(await runtime.exec(code)).toMatchObject({ stdout: '', exitCode: 0 }));
    },
  },
  {
    name: 'a denied operation fails with EACCES, and the default of a scope with rules is deny',
    check: () => {
      const fs = { rules: [{ mode: 'allow', paths: ['/workspace'] }] } as const;
      return withRuntime({ files: { '/data/a': '', '/workspace/b': 'b' }, permissions: { fs } }, async (runtime) => {
        const code = `
          const { readFileSync } = require('node:fs');
          try { readFileSync('/data/a') } catch (error) { console.log(error.code, readFileSync('/workspace/b', 'utf8')) }
        `;
        await runtime.writeFile('/workspace/main.cjs', code);
        expect((await runtime.execCommand('node', ['/workspace/main.cjs'])).stdout).toBe('EACCES b\n');
      });
    },
  },
  {
    name: '`callBinding` runs the handler in the app',
    check: () =>
      withRuntime({ bindings: { add: ADD } }, async (runtime) => {
        expect((await runtime.run(`__return(await callBinding('add', { a: 2, b: 3 }))`)).value).toBe(5);
      }),
  },
  {
    name: 'a binding is a command that takes `--json`, also by its aliases',
    check: () =>
      withRuntime({ bindings: { add: { ...ADD, commandAliases: ['plus'] } } }, async (runtime) => {
        for (const command of ['add', 'plus']) {
          const { stdout } = await runtime.execCommand(command, ['--json', '{"a":2,"b":3}']);
          expect(stdout.trim()).toBe('5');
        }
      }),
  },
  {
    name: 'a wrong input, and an error of the handler, reject the call in the guest',
    check: () =>
      withRuntime({ bindings: { add: ADD } }, async (runtime) => {
        const code = `
          const print = (error) => console.log(error.name, error.message);
          for (const a of ['x', -1]) await callBinding('add', { a, b: 0 }).catch(print);
        `;
        const lines = (await runtime.exec(code)).stdout.trim().split('\n');
        expect(lines).toHaveLength(2);
        expect(lines[1]).toBe('RangeError too small');
      }),
  },
  {
    name: '`tools` and `callHostTool` are other names of `bindings` and `callBinding`',
    check: () =>
      withRuntime({ tools: { add: ADD }, permissions: { tool: 'allow' } }, async (runtime) => {
        const code = `__return(await callHostTool('add', { a: 1, b: 1 }))`;
        expect((await runtime.run(code)).value).toBe(2);
        await runtime.registerTools({ plus: ADD });
        expect((await runtime.run(code.replace('add', 'plus'))).value).toBe(2);
      }),
  },
  {
    name: '`registerBindings` adds functions to a live runtime',
    check: () =>
      withRuntime({}, async (runtime) => {
        await runtime.registerBindings({ add: ADD });
        expect((await runtime.run(`__return(await callBinding('add', { a: 1, b: 2 }))`)).value).toBe(3);
      }),
  },
  {
    name: 'the app writes, reads and lists files',
    check: () =>
      withRuntime({}, async (runtime) => {
        await runtime.writeFile('/deep/er/file', 'text');
        expect(Buffer.from(await runtime.readFile('/deep/er/file')).toString()).toBe('text');
        expect(await runtime.readDir('/deep')).toEqual(['er']);
        expect(await runtime.readDirWithTypes('/deep')).toMatchObject([{ name: 'er', isDirectory: true, isSymbolicLink: false }]);
      }),
  },
  {
    name: 'a resident runner keeps its state, and survives a timeout',
    check: () =>
      withRuntime({}, async (runtime) => {
        const runner = await runtime.createResidentRunner();
        await runner.exec('globalThis.n = 41');
        expect((await runner.exec('for (;;);', { timeout: 50 })).exitCode).not.toBe(0);
        expect(await runner.exec('console.log(n + 1)')).toStrictEqual({ stdout: '42\n', stderr: '', exitCode: 0 });
        await runner.dispose();
        await expect(runner.exec('1')).rejects.toMatchObject({ code: 'ERR_RUNNER_DISPOSED' });
      }),
  },
  {
    name: 'a runtime in a sidecar of the app owns only its VM',
    check: async () => {
      const sidecar = await Sidecar.spawn();
      await withRuntime({ sidecar }, async (runtime) => expect((await runtime.exec('1')).exitCode).toBe(0));
      await withRuntime({ sidecar }, async (runtime) => expect((await runtime.exec('1')).exitCode).toBe(0));
      await sidecar.dispose();
      await expect(NodeRuntime.create({ sidecar })).rejects.toMatchObject({ code: 'ERR_SIDECAR_DISPOSED' });
    },
  },
  {
    name: 'a disposed runtime refuses calls, and a second `dispose` does nothing',
    check: async () => {
      const runtime = await NodeRuntime.create();
      await runtime.dispose();
      await runtime.dispose();
      await expect(runtime.exec('1')).rejects.toMatchObject({ code: 'ERR_RUNTIME_DISPOSED' });
    },
  },
  {
    name: '`onBootTiming` receives the steps of a start',
    check: () => {
      const timings: NodeRuntimeBootTiming[] = [];
      return withRuntime({ onBootTiming: (timing) => timings.push(timing) }, async () => {
        const phases = timings.map(({ phase }) => phase);
        expect(phases).toEqual(expect.arrayContaining(['sidecar_spawn', 'session_open', 'vm_create', 'vm_configure']));
        expect(timings.every(({ durationMs }) => durationMs >= 0)).toBe(true);
      });
    },
  },
  {
    name: '`findListener` returns the listener or null at once',
    differs: 'returns a promise of the listener or null',
    check: () =>
      withRuntime(ALLOWED, async (runtime) => {
        const found = runtime.findListener({ port: 3000 });
        expect(found).toBeInstanceOf(Promise);
        expect(await found).toBeNull();
        const child = await runtime.spawn(SERVER);
        await runtime.waitForListener({ port: 3000 });
        expect(await runtime.findListener({ port: 3000 })).toMatchObject({ processId: String(child.pid) });
      }),
  },
  {
    name: '`getResourceSnapshot` counts processes, descriptors, pipes, sockets, terminals and queues',
    differs: 'has no counts of terminals and queues',
    check: () =>
      withRuntime(ALLOWED, async (runtime) => {
        await runtime.spawn(SERVER);
        await runtime.waitForListener({ port: 3000 });
        const resources = await runtime.getResourceSnapshot();
        expect(resources).toMatchObject({ runningProcesses: 1, socketListeners: 1 });
        expect([resources.openFds >= 3, resources.sockets >= 1]).toEqual([true, true]);
        expect(Object.keys(resources)).not.toEqual(expect.arrayContaining(['ptys', 'queueSnapshots']));
      }),
  },
  {
    name: '`loopbackExemptPorts` opens ports of the host machine',
    differs: 'rejects with ERR_INVALID_OPTION, because programs have no connections to the outside yet',
    check: async () => {
      await expect(NodeRuntime.create({ ...ALLOWED, loopbackExemptPorts: [3000] })).rejects.toMatchObject({
        code: 'ERR_INVALID_OPTION',
        option: 'loopbackExemptPorts',
        expected: 'an empty list: programs of this module have no connections to the host machine or to other machines',
      });
      await withRuntime({ loopbackExemptPorts: [] }, async (runtime) => expect((await runtime.exec('1')).exitCode).toBe(0));
    },
  },
];
