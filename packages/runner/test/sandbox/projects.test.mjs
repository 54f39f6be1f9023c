// Real projects with real packages: a service on Express with a WebSocket, a build with tsc, a suite of mocha.

import { readdirSync, readFileSync, statSync } from 'node:fs';
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

/** The files of a project below `projects/`, as `files` takes them. */
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
  'tsc says what is wrong with a project, and its exit code says so too',
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
