// The features of the SDK that the table of docs/hosts.md lists. Each feature uses the public API
// of the built package and throws if a result is not the expected result. A host runs each feature
// in a process of its own: `HOST scripts/hosts/features.mjs NAME`. The process prints `works`, or
// the error as JSON, and must end by itself.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { NodeRuntime, RuntimePool, Sidecar } from 'coldframe';

const SERVER = `
  import { createServer } from 'node:http';
  createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => response.end(request.method + ' ' + request.url + ' ' + Buffer.concat(chunks)));
  }).listen(3000);`;

const ECHO = `
  import { createServer } from 'node:net';
  createServer((socket) => socket.pipe(socket)).listen(4000);`;

/** Calls `use` with a runtime, and disposes the runtime, also if `use` throws. */
async function withRuntime(options, use) {
  const runtime = await NodeRuntime.create(options);
  try {
    await use(runtime);
  } finally {
    await runtime.dispose();
  }
}

async function withSidecar(opening, use) {
  const sidecar = await opening;
  try {
    await use(sidecar);
  } finally {
    await sidecar.dispose();
  }
}

async function served(code, port, use) {
  await withRuntime({}, async (runtime) => {
    await runtime.spawn(code);
    await runtime.waitForListener({ port });
    await use(runtime);
  });
}

async function runsPrograms(runtime) {
  const { stdout, exitCode } = await runtime.exec('console.log([1, 2, 3].map((n) => n * 2).join())');
  assert.deepEqual({ stdout, exitCode }, { stdout: '2,4,6\n', exitCode: 0 });
  assert.equal((await runtime.run('__return(6 * 7)')).value, 42);
}

async function text(stream) {
  let all = '';
  for await (const chunk of stream) all += Buffer.from(chunk).toString();
  return all;
}

async function httpGet(port) {
  const [response] = await once(httpRequest({ host: '127.0.0.1', port, path: '/http', agent: false }).end(), 'response');
  return text(response);
}

const WORDS = `globalThis.words = ['pears', 'apples']`;

/** The features, in the order of the table. */
export const features = {
  'create, exec, run': () => withRuntime({}, runsPrograms),

  'dispose without await': async () => {
    const runtime = await NodeRuntime.create();
    assert.equal((await runtime.exec('console.log(1)')).exitCode, 0);
    runtime.dispose();
  },

  'exit without dispose': async () => {
    const runtime = await NodeRuntime.create();
    assert.equal((await runtime.exec('console.log(1)')).exitCode, 0);
  },

  timeout: () =>
    withRuntime({}, async (runtime) => {
      const { exitCode, error } = await runtime.exec('while (true) {}', { timeout: 50 });
      assert.deepEqual([exitCode, error?.code], [124, 'ERR_TIMEOUT']);
    }),

  AbortSignal: () =>
    withRuntime({}, async (runtime) => {
      const controller = new AbortController();
      const run = runtime.exec('console.log("up"); setInterval(() => {}, 1_000)', {
        signal: controller.signal,
        onStdout: () => controller.abort(new Error('no longer needed')),
      });
      await assert.rejects(run, /no longer needed/);
    }),

  'spawn, stdin, streams': () =>
    withRuntime({}, async (runtime) => {
      const child = await runtime.spawnCommand('tr', ['a-z', 'A-Z']);
      await child.writeStdin('pears\n');
      await child.closeStdin();
      assert.equal((await child.result).stdout, 'PEARS\n');
    }),

  'shell commands': () =>
    withRuntime({ files: { '/workspace/data.txt': 'pears\napples\n' } }, async (runtime) => {
      assert.equal((await runtime.execCommand('sh', ['-c', 'sort data.txt | head -n 1'])).stdout, 'apples\n');
    }),

  'shared sidecar': () =>
    withSidecar(Sidecar.spawn(), async (sidecar) => {
      const runtimes = await Promise.all([1, 2, 3].map(() => NodeRuntime.create({ sidecar })));
      await Promise.all(runtimes.map(runsPrograms));
      await Promise.all(runtimes.map((runtime) => runtime.dispose()));
    }),

  'resident runner': () =>
    withRuntime({}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(WORDS);
      assert.equal((await runner.exec('console.log(words.length)')).stdout, '2\n');
    }),

  'embedded sidecar': () => withSidecar(Sidecar.embedded(), (sidecar) => withRuntime({ sidecar }, runsPrograms)),

  'embedded, inline': () =>
    withSidecar(Sidecar.embedded({ inlineBudgetMs: 5 }), (sidecar) =>
      withRuntime({ sidecar }, async (runtime) => {
        await runsPrograms(runtime);
        const runner = await runtime.createResidentRunner();
        await runner.exec(WORDS);
        assert.equal((await runner.exec('console.log(words[0])')).stdout, 'pears\n');
      }),
    ),

  files: () =>
    withRuntime({ files: { '/workspace/a.txt': 'a' } }, async (runtime) => {
      const big = new Uint8Array(3_000_000).fill(7);
      await runtime.writeFile('/workspace/b.bin', big);
      assert.equal(Buffer.compare(await runtime.readFile('/workspace/b.bin'), big), 0);
      assert.deepEqual((await runtime.readDir('/workspace')).sort(), ['a.txt', 'b.bin']);
    }),

  mounts: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'coldframe-hosts-'));
    try {
      await withRuntime({ mounts: [{ guestPath: '/data', hostPath: folder, readOnly: false }] }, async (runtime) => {
        const { stderr } = await runtime.exec(`import fs from 'node:fs'; fs.writeFileSync('/data/x', 'pears')`);
        assert.equal(stderr, '');
        assert.equal(await readFile(join(folder, 'x'), 'utf8'), 'pears');
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  },

  bindings: () => {
    const price = { inputSchema: true, handler: async ({ of }) => (of === 'pears' ? 3 : 2), description: 'a price' };
    return withRuntime({ bindings: { price } }, async (runtime) => {
      const { stdout, stderr } = await runtime.exec(`console.log(await callBinding('price', { of: 'pears' }))`);
      assert.deepEqual({ stdout, stderr }, { stdout: '3\n', stderr: '' });
    });
  },

  fetch: () =>
    served(SERVER, 3000, async (runtime) => {
      assert.equal((await runtime.fetch(3000, '/pears')).body, 'GET /pears ');
      const { body } = await runtime.fetch(3000, '/', { method: 'POST', body: 'x'.repeat(100_000) });
      assert.equal(body.length, 100_000 + 'POST / '.length);
    }),

  dispatcher: () =>
    served(SERVER, 3000, async (runtime) => {
      const { statusCode, body } = await runtime.dispatcher(3000).request({ method: 'GET', path: '/pears' });
      assert.deepEqual([statusCode, await body.text()], [200, 'GET /pears ']);
    }),

  'global fetch with a dispatcher': () =>
    served(SERVER, 3000, async (runtime) => {
      const response = await fetch('http://guest.invalid/pears', { dispatcher: runtime.dispatcher(3000) });
      assert.equal(await response.text(), 'GET /pears ');
    }),

  connect: () =>
    served(ECHO, 4000, async (runtime) => {
      const stream = await runtime.connect({ port: 4000 });
      stream.end('hello');
      assert.equal(await text(stream), 'hello');
    }),

  exposePort: () =>
    served(SERVER, 3000, async (runtime) => {
      const exposed = await runtime.exposePort(3000);
      assert.equal(await httpGet(exposed.port), 'GET /http ');
      await exposed.close();
    }),

  'snapshots, rollback, clones': () =>
    withRuntime({}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(WORDS);
      const before = await runtime.snapshot();
      await runner.exec('words.length = 0');
      await runtime.rollback(before);
      const [clone] = await runtime.clone(1);
      const [copied] = await clone.residentRunners();
      for (const one of [runner, copied]) assert.equal((await one.exec('console.log(words.length)')).stdout, '2\n');
      await clone.dispose();
    }),

  'pause, resume': () =>
    withRuntime({}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(WORDS);
      await runtime.pause();
      await runtime.resume();
      assert.equal((await runner.exec('console.log(words.length)')).stdout, '2\n');
    }),

  pool: async () => {
    const pool = new RuntimePool({ size: 2 });
    const results = await Promise.all([1, 2, 3, 4].map((n) => pool.withRuntime((runtime) => runtime.exec(`console.log(${n})`))));
    assert.deepEqual(
      results.map(({ stdout }) => stdout),
      ['1\n', '2\n', '3\n', '4\n'],
    );
    await pool.dispose();
  },
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    await features[process.argv[2]]();
    writeSync(1, 'works\n');
  } catch (error) {
    process.exitCode = 1;
    writeSync(1, `${JSON.stringify({ code: error.code, message: error.message, stack: error.stack })}\n`);
  }
}
