// Real projects with real packages: a service on Express with a WebSocket, a build with tsc, a
// suite of mocha.

import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NodeRuntime, Sidecar } from 'coldframe';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installed } from '../../npm-table/install.mjs';

const INSTALL_MS = 300_000;
const PROJECT_MS = 120_000;

let packages;
let sidecar;

beforeAll(async () => {
  packages = installed();
  sidecar = await Sidecar.spawn();
}, INSTALL_MS);

afterAll(() => sidecar?.dispose());

/** Returns the files of a project below `projects/` in the form of the option `files`. */
function filesOf(project) {
  const folder = join(dirname(fileURLToPath(import.meta.url)), '../projects', project);
  const names = readdirSync(folder, { recursive: true }).filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(names.map((name) => [`/workspace/${name}`, readFileSync(join(folder, name))]));
}

async function withProject(project, work) {
  const runtime = await NodeRuntime.create({
    sidecar,
    env: { PATH: '/workspace/node_modules/.bin:/usr/local/bin:/usr/bin:/bin', TZ: 'UTC' },
    files: filesOf(project),
    nodeModules: `${packages}/node_modules`,
    limits: { memoryBytes: 512 << 20, cpuMs: PROJECT_MS },
  });
  try {
    await work(runtime);
  } finally {
    await runtime.dispose();
  }
}

const text = async (runtime, path) => new TextDecoder().decode(await runtime.readFile(path));

test(
  'tsc builds a project, and node runs it',
  () =>
    withProject('typescript', async (runtime) => {
      const build = await runtime.execCommand('tsc', ['-p', '.']);
      expect(build).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
      expect(await runtime.readDir('/workspace/dist')).toEqual(
        ['count', 'main'].flatMap((name) => [`${name}.d.ts`, `${name}.js`, `${name}.js.map`]),
      );
      expect(await text(runtime, '/workspace/dist/count.d.ts')).toContain(
        'export declare function countWords(text: string): Count[];',
      );
      const run = await runtime.execCommand('node', ['dist/main.js']);
      expect(run).toMatchObject({
        exitCode: 0,
        stdout: 'the: 3 times\nand: 2 times\nbird: 1 time\ncat: 1 time\ndog: 1 time\n',
      });
    }),
  PROJECT_MS,
);

test(
  'tsc reports errors of a project in its output and its exit code',
  () =>
    withProject('typescript', async (runtime) => {
      await runtime.writeFile('/workspace/src/wrong.ts', 'export const n: number = "text";\n');
      const build = await runtime.execCommand('sh', ['-c', 'tsc -p . --noEmit || echo "ended with $?"']);
      expect(build.stdout).toBe(
        "src/wrong.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.\nended with 2\n",
      );
    }),
  PROJECT_MS,
);

test(
  'mocha runs a suite through sh',
  () =>
    withProject('mocha', async (runtime) => {
      const good = await runtime.execCommand('sh', ['-c', 'mocha --reporter tap | grep -v "^#"']);
      expect(good.stdout).toBe(
        'ok 1 Stack gives back the last first\nok 2 Stack refuses to give what it has not\nok 3 Stack waits for files\n1..3\n',
      );
      const bad = await runtime.execCommand('sh', ['-c', 'WITH_FAILURE=1 mocha --reporter dot > report.txt 2>&1; echo $?']);
      expect(bad.stdout).toBe('1\n');
      expect(await text(runtime, '/workspace/report.txt')).toMatch(
        /3 passing.*1 failing.*Expected values to be strictly equal:.*1 !== 2/s,
      );
    }),
  PROJECT_MS,
);

test(
  'a service on Express replies, streams, reports changes through a WebSocket, and closes at SIGTERM',
  () =>
    withProject('express', async (runtime) => {
      const service = await runtime.spawn("import './server.js';", { env: { PORT: '3000' } });
      expect(await runtime.waitForListener({ port: 3000 })).toMatchObject({ port: 3000, processId: service.pid });
      const ask = async (method, path, body) => {
        const headers = body === undefined ? {} : { 'content-type': 'application/json' };
        const answer = await runtime.fetch(3000, { method, path, headers, body: body && JSON.stringify(body) });
        return { status: answer.status, headers: answer.headers, text: answer.body };
      };

      const { WebSocket } = createRequire(`${packages}/package.json`)('ws');
      const connection = await runtime.connect({ port: 3000 });
      const watcher = new WebSocket('ws://localhost:3000/', { createConnection: () => connection });
      const heard = [];
      watcher.on('message', (data) => heard.push(String(data)));
      await once(watcher, 'open');
      watcher.send('hello');
      await once(watcher, 'message');

      expect(await ask('GET', '/notes')).toMatchObject({ status: 200, text: '[]' });
      expect(await ask('POST', '/notes', { text: 'the first ☃' })).toMatchObject({
        status: 201,
        headers: { location: '/notes/1' },
      });
      expect(await ask('GET', '/notes/1')).toMatchObject({ status: 200, text: '{"id":1,"text":"the first ☃"}' });
      expect(await ask('GET', '/notes/7')).toMatchObject({ status: 404, text: '{"error":"no note 7"}' });
      expect(await ask('GET', '/broken')).toMatchObject({ status: 500, text: '{"error":"this route is broken"}' });
      expect(await ask('GET', '/log')).toMatchObject({ status: 200, text: '{"id":1,"text":"the first ☃"}\n' });
      expect(await text(runtime, '/workspace/notes.log')).toBe('{"id":1,"text":"the first ☃"}\n');
      const many = await Promise.all(Array.from({ length: 40 }, (_, n) => ask('POST', '/notes', { text: `note ${n}` })));
      expect(new Set(many.map(({ text }) => JSON.parse(text).id)).size).toBe(40);
      expect(heard.slice(0, 2)).toEqual(['heard: hello', '{"id":1,"text":"the first ☃"}']);

      const closed = once(watcher, 'close');
      expect(await service.kill('SIGTERM')).toBe(true);
      expect((await closed)[0]).toBe(1001);
      expect(await service.wait()).toBe(0);
      expect(heard).toHaveLength(42);
      expect((await service.result).stdout).toBe('listening on 3000\nclosing\nclosed\n');
      await expect(runtime.fetch(3000, { path: '/' })).rejects.toThrow(/refused|listens/);
    }),
  PROJECT_MS,
);
