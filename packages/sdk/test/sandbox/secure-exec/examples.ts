// The 18 subjects of the examples of secure-exec's class API, with programs of our own.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { NodeRuntime, Sidecar } from '../../../src/secure-exec/index.js';
import { type Case, SERVER, withFolder, withRuntime } from './cases.js';

const ALLOWED = { permissions: { network: 'allow' } } as const;

const LOOPBACK = `
  import { createServer } from 'node:http';
  const server = createServer((request, response) => response.end('pong'));
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const response = await fetch('http://127.0.0.1:' + server.address().port);
  console.log(response.status, await response.text());
  process.exit(0);
`;

export const EXAMPLES: readonly Case[] = [
  {
    name: 'first program',
    check: () =>
      withRuntime({}, async (runtime) => {
        const result = await runtime.exec(`console.log('sum', 20 + 22)`);
        expect(result).toStrictEqual({ stdout: 'sum 42\n', stderr: '', exitCode: 0 });
      }),
  },
  {
    name: 'value of a program',
    check: () =>
      withRuntime({}, async (runtime) => {
        const { value } = await runtime.run<{ words: string[] }>(`globalThis.__return({ words: 'a b'.split(' ') })`);
        expect(value?.words).toEqual(['a', 'b']);
      }),
  },
  {
    name: 'files of the app',
    check: () =>
      withRuntime({ files: { '/data/first.json': '{"n":1}' } }, async (runtime) => {
        await runtime.writeFile('/data/second.txt', 'two');
        const { value } = await runtime.run(`
          const { readFileSync } = await import('node:fs');
          const read = (name) => readFileSync('/data/' + name, 'utf8');
          __return([JSON.parse(read('first.json')).n, read('second.txt')]);
        `);
        expect(value).toEqual([1, 'two']);
      }),
  },
  {
    name: 'file system of the guest',
    check: () =>
      withRuntime({}, async (runtime) => {
        const { stdout } = await runtime.exec(`
          import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
          mkdirSync('/workspace/notes', { recursive: true });
          writeFileSync('/workspace/notes/a.txt', 'kept in the guest');
          console.log(readFileSync('/workspace/notes/a.txt', 'utf8'), readdirSync('/workspace/notes').join());
        `);
        expect(stdout).toBe('kept in the guest a.txt\n');
        expect(await runtime.readDir('/workspace/notes')).toEqual(['a.txt']);
      }),
  },
  {
    name: 'mounted folder',
    check: () =>
      withFolder(async (folder) => {
        await writeFile(join(folder, 'data.csv'), 'x,y');
        await withRuntime({ mounts: [{ guestPath: '/mnt/data', hostPath: folder, readOnly: true }] }, async (runtime) => {
          const { stdout } = await runtime.exec(`
            import { readFileSync } from 'node:fs';
            process.stdout.write(readFileSync('/mnt/data/data.csv', 'utf8'));
          `);
          expect(stdout).toBe('x,y');
        });
      }),
  },
  {
    name: 'child processes',
    check: () =>
      withRuntime({}, async (runtime) => {
        const { stdout } = await runtime.exec(`
          import { execFileSync } from 'node:child_process';
          process.stdout.write(execFileSync('sh', ['-c', 'echo from a child']));
          process.stdout.write(execFileSync('node', ['--version']));
        `);
        expect(stdout).toMatch(/^from a child\nv\d+\./);
      }),
  },
  {
    name: 'loading modules',
    check: () =>
      withRuntime({}, async (runtime) => {
        const { stdout } = await runtime.exec(`
          import { createRequire } from 'node:module';
          import { join } from 'node:path';
          const require = createRequire(import.meta.url);
          console.log(join('/workspace', 'a'), require('node:os').platform());
        `);
        expect(stdout).toBe('/workspace/a linux\n');
      }),
  },
  {
    name: 'packages of the app',
    check: () =>
      withFolder(async (folder) => {
        await mkdir(join(folder, 'double'));
        await writeFile(join(folder, 'double/package.json'), '{"name":"double","type":"module","exports":"./main.js"}');
        await writeFile(join(folder, 'double/main.js'), 'export default (n) => 2 * n;');
        await withRuntime({ nodeModules: folder }, async (runtime) => {
          expect((await runtime.exec(`import double from 'double'; console.log(double(21))`)).stdout).toBe('42\n');
        });
      }),
  },
  {
    name: 'allowed network',
    check: () =>
      withRuntime(ALLOWED, async (runtime) => {
        expect(await runtime.exec(LOOPBACK)).toMatchObject({ stdout: '200 pong\n', exitCode: 0 });
      }),
  },
  {
    name: 'denied network',
    check: () =>
      withRuntime({}, async (runtime) => {
        const { exitCode, stderr } = await runtime.exec(LOOPBACK);
        expect(exitCode).not.toBe(0);
        expect(stderr).toContain('EACCES');
      }),
  },
  {
    name: 'permissions for paths',
    check: () => {
      const rules = [{ mode: 'deny', operations: ['read'], paths: ['/workspace/secret.txt'] }] as const;
      const files = { '/workspace/secret.txt': 's', '/workspace/open.txt': 'o' };
      return withRuntime({ files, permissions: { fs: { default: 'allow', rules } } }, async (runtime) => {
        const { stdout } = await runtime.exec(`
          import { readFileSync } from 'node:fs';
          console.log(readFileSync('/workspace/open.txt', 'utf8'));
          try { readFileSync('/workspace/secret.txt') } catch (error) { console.log(error.code) }
        `);
        expect(stdout).toBe('o\nEACCES\n');
      });
    },
  },
  {
    name: 'limit of time',
    check: () =>
      withRuntime({}, async (runtime) => {
        expect((await runtime.exec('for (;;);', { timeout: 50 })).exitCode).not.toBe(0);
        expect((await runtime.exec(`console.log('next')`)).stdout).toBe('next\n');
      }),
  },
  {
    name: 'cancellation',
    check: () =>
      withRuntime({}, async (runtime) => {
        const abort = new AbortController();
        const run = runtime.exec(`console.log('begun'); for (;;);`, {
          signal: abort.signal,
          onStdout: () => abort.abort(),
        });
        await expect(run).rejects.toMatchObject({ name: 'AbortError' });
      }),
  },
  {
    name: 'output while a program runs',
    check: () =>
      withRuntime({}, async (runtime) => {
        const chunks: string[] = [];
        const decoder = new TextDecoder();
        const { stdout, stderr } = await runtime.exec(`console.log('out'); console.error('err')`, {
          onStdout: (chunk) => chunks.push(decoder.decode(chunk)),
          onStderr: (chunk) => chunks.push(decoder.decode(chunk)),
        });
        expect(chunks.sort()).toEqual(['err\n', 'out\n']);
        expect([stdout, stderr]).toEqual(['out\n', 'err\n']);
      }),
  },
  {
    name: 'server for development',
    check: () =>
      withRuntime(ALLOWED, async (runtime) => {
        const server = await runtime.spawn(SERVER);
        const listener = await runtime.waitForListener({ port: 3000 });
        expect((await runtime.fetch(listener.port ?? 3000, { path: '/health' })).body).toBe('GET /health  ');
        server.kill('SIGTERM');
        expect(await server.wait()).not.toBe(0);
      }),
  },
  {
    name: 'server that an aborted signal ends',
    check: () =>
      withRuntime(ALLOWED, async (runtime) => {
        const abort = new AbortController();
        let ready: () => void;
        const isReady = new Promise<void>((resolve) => {
          ready = resolve;
        });
        const run = runtime.exec(SERVER, { signal: abort.signal, onStdout: () => ready() });
        await isReady;
        expect((await runtime.fetch(3000, { path: '/missing' })).status).toBe(404);
        abort.abort();
        await expect(run).rejects.toMatchObject({ name: 'AbortError' });
      }),
  },
  {
    name: 'functions of the app',
    check: () => {
      const price = {
        description: 'the price of a fruit',
        inputSchema: { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] },
        handler: ({ of }: { of: string }) => ({ of, cents: 30 }),
      };
      return withRuntime({ bindings: { price } }, async (runtime) => {
        const { stdout } = await runtime.exec(`
          import { execFileSync } from 'node:child_process';
          console.log((await callBinding('price', { of: 'pear' })).cents);
          console.log(JSON.parse(execFileSync('price', ['--json', JSON.stringify({ of: 'fig' })])).of);
        `);
        expect(stdout).toBe('30\nfig\n');
      });
    },
  },
  {
    name: 'shared sidecar and resident runner',
    check: async () => {
      const sidecar = await Sidecar.spawn();
      try {
        const [one, two] = await Promise.all([NodeRuntime.create({ sidecar }), NodeRuntime.create({ sidecar })]);
        const runner = await one.createResidentRunner();
        await runner.exec('globalThis.n = 1');
        expect((await runner.exec('console.log(++n)')).stdout).toBe('2\n');
        await runner.dispose();
        await one.dispose();
        expect((await two.exec('console.log(typeof n)')).stdout).toBe('undefined\n');
        await two.dispose();
      } finally {
        await sidecar.dispose();
      }
    },
  },
];
