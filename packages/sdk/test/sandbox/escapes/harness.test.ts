// The harness can fail: cases that are leaky on purpose, and what is said of each.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NodeRuntime } from '../../../src/index.js';
import type { EscapeCase } from './harness/case.js';
import { run } from './harness/run.js';
import { closeScene, openScene, type Scene } from './harness/scene.js';

let scene: Scene;

beforeAll(async () => {
  scene = await openScene();
});

afterAll(() => closeScene(scene));

const problemsOf = async (attempt: Omit<EscapeCase, 'name'>): Promise<string> => {
  const problems = await run(scene, { name: 'leaky', ...attempt });
  return problems.join('\n');
};

test('a case that holds has no problems', async () => {
  expect(await problemsOf({ program: `say('fine');`, expected: 'fine' })).toBe('');
});

test('an expectation that is not met is reported, with what came instead', async () => {
  expect(await problemsOf({ program: `say('b');`, expected: 'a' })).toMatch('"b\\n" instead of a');
  expect(await problemsOf({ program: `process.exit(3);`, expected: '' })).toMatch('exit code 3 instead of 0');
  expect(await problemsOf({ program: `for (;;);`, how: { timeout: 50 }, expected: { error: 'none' } })).toMatch(
    'error ERR_TIMEOUT',
  );
});

test("somebody's secret, or a fact of the host, in the output is reported", async () => {
  const shows = (text: string) => problemsOf({ program: `console.error(${JSON.stringify(text)});`, expected: '' });
  expect(await shows(`x ${scene.neighbour.secret} y`)).toBe("the neighbour's secret is in the output");
  expect(await shows(scene.ground.secret)).toBe('the canary is in the output');
  expect(await shows(join(scene.ground.root, 'x'))).toBe("the host's folder is in the output");
  expect(await shows(process.env.COLDFRAME_ESCAPES ?? '')).toBe("the host's environment is in the output");
});

test('a neighbour that is harmed is reported', async () => {
  const { runtime } = scene.neighbour;
  const changes = async (): Promise<string> => {
    await runtime.writeFile('/workspace/neighbour-secret.txt', 'changed');
    return '';
  };
  expect(await problemsOf({ attack: changes, expected: '' })).toMatch("the neighbour's secret has changed");
  await runtime.writeFile('/workspace/neighbour-secret.txt', scene.neighbour.secret);
  const adds = async (): Promise<string> => {
    await runtime.writeFile('/workspace/new', '');
    return '';
  };
  expect(await problemsOf({ attack: adds, expected: '' })).toMatch('the neighbour sees');
  await runtime.remove('/workspace/new');
});

test('a runtime, with the folder that it has open, that stays behind is reported', async () => {
  let kept: NodeRuntime | undefined;
  const keeps = async (): Promise<string> => {
    const mounts = [{ guestPath: '/m', hostPath: scene.ground.place().inside }];
    kept = await NodeRuntime.create({ sidecar: scene.sidecar, mounts });
    return '';
  };
  expect(await problemsOf({ attack: keeps, expected: '' })).toMatch('the sidecar still has 2 runtimes');
  await kept?.dispose();
  expect(await problemsOf({ program: '', expected: '' })).toBe('');
});

test('a canary that is read, or changed, is reported', async () => {
  const reads = async (): Promise<string> => String(readFileSync(scene.ground.canary).length);
  expect(await problemsOf({ attack: reads, expected: /\d+/ })).toBe('the canary was read');
  const writes = async (): Promise<string> => {
    writeFileSync(scene.ground.canary, scene.ground.secret);
    return '';
  };
  expect(await problemsOf({ attack: writes, expected: '' })).toMatch(/the canary was (read|changed)/);
});

test('what a case looks at afterwards is reported', async () => {
  expect(await problemsOf({ program: '', expected: '', after: () => 'the host has changed' })).toMatch('the host has changed');
});

test('a sidecar that ends is reported', async () => {
  const kills = async (): Promise<string> => {
    process.kill(scene.sidecar.pid, 'SIGKILL');
    return '';
  };
  expect(await problemsOf({ attack: kills, expected: '' })).toMatch(/the sidecar has ended|ERR_SIDECAR_EXITED/);
});
