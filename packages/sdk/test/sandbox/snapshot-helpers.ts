// What tests of snapshots share: a folder of their own for those on disk, and a runner that answers.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { NodeRuntime, ResidentRunner } from '../../src/index.js';

/** Has every sidecar of this file keep its snapshots in a folder that goes away with the file. */
export function inFolderOfItsOwn(): { path(): string } {
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

/** What `expression` is in a runner, as text. */
export async function ask(runner: ResidentRunner, expression: string): Promise<string> {
  const { stdout, stderr } = await runner.exec(`console.log(${expression})`);
  if (stderr !== '') throw new Error(stderr);
  return stdout.trim();
}

/** The only runner of a runtime. */
export async function runnerOf(runtime: NodeRuntime): Promise<ResidentRunner> {
  const runners = await runtime.residentRunners();
  if (runners.length !== 1) throw new Error(`${runners.length} runners and not one`);
  return runners[0] as ResidentRunner;
}

/** Disposes of all. */
export async function disposeAll(runtimes: readonly NodeRuntime[]): Promise<void> {
  await Promise.all(runtimes.map((runtime) => runtime.dispose()));
}

/** Resolves when `look` gives true; fails after ten seconds. */
export async function until(look: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 10_000;
  while (!(await look())) {
    if (Date.now() > end) throw new Error('it did not come about');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
