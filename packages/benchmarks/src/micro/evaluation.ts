// Micro-benchmarks on a sidecar: a warm evaluation in a resident runner, a fresh program, creating
// and disposing of a runtime, and a ping. The ping is measured without a pause between two pings,
// and after idle time, when the sidecar's thread blocks.

import { setTimeout as sleep } from 'node:timers/promises';
import { NodeRuntime } from 'coldframe';
import type { OpenSdkSidecar } from '../sandbox/sidecars.js';
import { type ExecResult, makeSnippet, problemOf } from '../sandbox/snippet.js';
import { now } from '../statistics/timer.js';
import { type MicroGroup, type MicroTask, singleOperation } from './task.js';

const IDLE_MS = 2;

export async function evaluationGroup(kind: string, open: OpenSdkSidecar): Promise<MicroGroup> {
  const sidecar = await open();
  const runtime = await NodeRuntime.create({ sidecar });
  const runner = await runtime.createResidentRunner();
  const tasks: MicroTask[] = [
    singleOperation(`${kind}: warm eval`, 'runner.exec() of a new snippet', () => timedExec((code) => runner.exec(code))),
    singleOperation(`${kind}: fresh program`, 'runtime.exec() of a new snippet', () => timedExec((code) => runtime.exec(code))),
    singleOperation(`${kind}: create + drop`, 'NodeRuntime.create() and dispose()', () =>
      timed(async () => (await NodeRuntime.create({ sidecar })).dispose()),
    ),
    singleOperation(`${kind}: ping`, 'sidecar.ping(), back to back', () => timed(() => sidecar.ping())),
    singleOperation(`${kind}: ping, idle before`, `sidecar.ping() after ${IDLE_MS} ms without a message`, async () => {
      await sleep(IDLE_MS);
      return timed(() => sidecar.ping());
    }),
  ];
  return { tasks, close: () => sidecar.dispose() };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = now();
  await work();
  return now() - startedAt;
}

async function timedExec(exec: (code: string) => Promise<ExecResult>): Promise<number> {
  const snippet = makeSnippet();
  const startedAt = now();
  const { stdout, exitCode } = await exec(snippet.code);
  const elapsed = now() - startedAt;
  const problem = problemOf(snippet, { stdout, exitCode });
  if (problem) throw new Error(problem);
  return elapsed;
}
