// Micro-benchmarks on a sidecar of each kind: a warm evaluation in a resident runner, a fresh program, creating and dropping a runtime,
// and a ping, back to back and after some idle time (the sidecar then has gone to sleep).

import { setTimeout as sleep } from 'node:timers/promises';
import { NodeRuntime, Sidecar } from 'coldframe';
import type { ExecResult } from '../scenarios/adapter.js';
import { makeSnippet, whatIsWrong } from '../scenarios/snippet.js';
import { now } from '../stats/timer.js';
import { type MicroGroup, type MicroTask, oneOperation } from './task.js';

const IDLE_MS = 2;

export const sidecarKinds: Readonly<Record<string, () => Promise<Sidecar>>> = {
  shared: () => Sidecar.spawn(),
  embedded: () => Sidecar.embedded(),
  'embedded inline': () => Sidecar.embedded({ inlineBudgetMs: 5 }),
};

export async function evaluationGroup(kind: string, open: () => Promise<Sidecar>): Promise<MicroGroup> {
  const sidecar = await open();
  const runtime = await NodeRuntime.create({ sidecar });
  const runner = await runtime.createResidentRunner();
  const tasks: MicroTask[] = [
    oneOperation(`${kind}: warm eval`, 'runner.exec() of a new snippet', () => timedExec((code) => runner.exec(code))),
    oneOperation(`${kind}: fresh program`, 'runtime.exec() of a new snippet', () => timedExec((code) => runtime.exec(code))),
    oneOperation(`${kind}: create + drop`, 'NodeRuntime.create() and dispose()', () =>
      timed(async () => (await NodeRuntime.create({ sidecar })).dispose()),
    ),
    oneOperation(`${kind}: ping`, 'sidecar.ping(), back to back', () => timed(() => sidecar.ping())),
    oneOperation(`${kind}: ping, idle before`, `sidecar.ping() after ${IDLE_MS} ms without a message`, async () => {
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
  const wrong = whatIsWrong(snippet, { stdout, exitCode });
  if (wrong) throw new Error(wrong);
  return elapsed;
}
