// Tests that the harness detects each kind of problem. The cases leak on purpose.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NodeRuntime } from '../../../src/index.js';
import type { EscapeCase } from './harness/case.js';
import { run } from './harness/run.js';
import { closeSuite, openSuite, type Suite } from './harness/suite.js';

let suite: Suite;

beforeAll(async () => {
  suite = await openSuite('shared');
});

afterAll(() => closeSuite(suite));

const problemsOf = async (attempt: Omit<EscapeCase, 'name'>): Promise<string> => {
  const problems = await run(suite, { name: 'leaky', ...attempt });
  return problems.join('\n');
};

test('a case with the expected result has no problems', async () => {
  expect(await problemsOf({ program: `say('fine');`, expected: 'fine' })).toBe('');
});

test('reports an unmet expectation with the actual result', async () => {
  expect(await problemsOf({ program: `say('b');`, expected: 'a' })).toMatch('"b\\n" instead of a');
  expect(await problemsOf({ program: `process.exit(3);`, expected: '' })).toMatch('exit code 3 instead of 0');
  expect(await problemsOf({ program: `for (;;);`, execOptions: { timeout: 50 }, expected: { error: 'none' } })).toMatch(
    'error ERR_TIMEOUT',
  );
});

test('reports a secret or a fact of the host machine in the output', async () => {
  const shows = (text: string) => problemsOf({ program: `console.error(${JSON.stringify(text)});`, expected: '' });
  expect(await shows(`x ${suite.neighbour.secret} y`)).toBe("the neighbour's secret is in the output");
  expect(await shows(suite.folders.secret)).toBe('the canary is in the output');
  expect(await shows(join(suite.folders.root, 'x'))).toBe("the host machine's folder is in the output");
  expect(await shows(process.env.COLDFRAME_ESCAPES ?? '')).toBe("the host machine's environment is in the output");
});

test('reports damage to the neighbour', async () => {
  const { runtime } = suite.neighbour;
  const changes = async (): Promise<string> => {
    await runtime.writeFile('/workspace/neighbour-secret.txt', 'changed');
    return '';
  };
  expect(await problemsOf({ attack: changes, expected: '' })).toMatch("the neighbour's secret has changed");
  await runtime.writeFile('/workspace/neighbour-secret.txt', suite.neighbour.secret);
  const adds = async (): Promise<string> => {
    await runtime.writeFile('/workspace/new', '');
    return '';
  };
  expect(await problemsOf({ attack: adds, expected: '' })).toMatch('the neighbour sees');
  await runtime.remove('/workspace/new');
});

test('reports a runtime that is not disposed, with its open folder', async () => {
  let kept: NodeRuntime | undefined;
  const keeps = async (): Promise<string> => {
    const mounts = [{ guestPath: '/m', hostPath: suite.folders.forCase().inside }];
    kept = await NodeRuntime.create({ sidecar: suite.sidecar, mounts });
    return '';
  };
  expect(await problemsOf({ attack: keeps, expected: '' })).toMatch('the sidecar still has 2 runtimes');
  await kept?.dispose();
  expect(await problemsOf({ program: '', expected: '' })).toBe('');
});

test('reports a read or a change of the canary', async () => {
  const reads = async (): Promise<string> => String(readFileSync(suite.folders.canary).length);
  expect(await problemsOf({ attack: reads, expected: /\d+/ })).toBe('the canary was read');
  const writes = async (): Promise<string> => {
    writeFileSync(suite.folders.canary, suite.folders.secret);
    return '';
  };
  expect(await problemsOf({ attack: writes, expected: '' })).toMatch(/the canary was (read|changed)/);
});

test('reports problems that the case itself finds afterwards', async () => {
  expect(await problemsOf({ program: '', expected: '', after: () => 'the host machine has changed' })).toMatch(
    'the host machine has changed',
  );
});

test('reports the end of the sidecar', async () => {
  const kills = async (): Promise<string> => {
    process.kill(suite.sidecar.pid, 'SIGKILL');
    return '';
  };
  expect(await problemsOf({ attack: kills, expected: '' })).toMatch(/the sidecar has ended|ERR_SIDECAR_EXITED/);
});
