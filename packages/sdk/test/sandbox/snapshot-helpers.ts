// Provides functions for the tests of snapshots: a private store folder, and evaluations in
// runners.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { NodeRuntime, ResidentRunner } from '../../src/index.js';

/**
 * Sets a private store folder for the sidecars of a test file, and removes the folder after the
 * tests.
 */
export function usePrivateStoreFolder(): { path(): string } {
  const before = process.env['XDG_DATA_HOME'];
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'coldframe-snapshots-'));
    process.env['XDG_DATA_HOME'] = folder;
  });
  afterAll(() => {
    if (before === undefined) delete process.env['XDG_DATA_HOME'];
    else process.env['XDG_DATA_HOME'] = before;
    rmSync(folder, { recursive: true, force: true });
  });
  return { path: () => folder };
}

/** Evaluates `expression` in a runner and returns the result as text. */
export async function evaluate(runner: ResidentRunner, expression: string): Promise<string> {
  const { stdout, stderr } = await runner.exec(`console.log(${expression})`);
  if (stderr !== '') throw new Error(stderr);
  return stdout.trim();
}

/** Returns the only runner of a runtime. */
export async function runnerOf(runtime: NodeRuntime): Promise<ResidentRunner> {
  const runners = await runtime.residentRunners();
  if (runners.length !== 1) throw new Error(`${runners.length} runners, expected one`);
  return runners[0] as ResidentRunner;
}

/** Disposes all runtimes. */
export async function disposeAll(runtimes: readonly NodeRuntime[]): Promise<void> {
  await Promise.all(runtimes.map((runtime) => runtime.dispose()));
}

/** Waits until `condition` returns true. Fails after ten seconds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('the condition did not become true within ten seconds');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
