// Measures the density of a start: the private memory that a sidecar needs for each additional live
// runtime.
//
// A few runtimes are created, used and disposed of first, so that the sidecar has allocated the
// memory that every sidecar keeps. These first runtimes are created one after the other, so that
// few used slots remain. A pool full of used slots would hide the cost of the measured runtimes.
// After the first runtimes, `count` runtimes are created. Each runs one checked snippet and stays
// alive. The growth of the sidecar's memory divided by the number of live runtimes is the result.
//
// Plain runtimes and resident runners are measured. The guest process of a plain runtime has ended
// with its snippet. The guest of a resident runner is alive and needs more memory. The density
// benchmark measures larger counts and more kinds.

import { NodeRuntime, Sidecar } from 'coldframe';
import { type ProcessMemory, privateGrowthKib, readProcessMemory } from '../machine/footprint.js';
import { type Executor, executorOf } from '../sandbox/executor.js';
import { makeSnippet, problemOf } from '../sandbox/snippet.js';
import type { Section } from '../suite/benchmark.js';
import { runConcurrently } from '../suite/concurrency.js';
import { withDeadline } from '../suite/deadline.js';
import { runRounds } from '../suite/rounds.js';
import type { Recorded } from '../suite/run.js';
import { resultsIn } from '../suite/run.js';
import { percentage } from '../suite/text.js';

/** Creates live runtimes, or resident runners, in one process. */
export interface LiveProvisioner {
  pid: number;
  start(): Promise<Executor>;
  close(): Promise<void>;
}

export interface DensityResult {
  kind: string;
  live: number;
  /** Private pages plus page tables, per runtime. */
  privateKibPerRuntime: number;
  pageTablesKibPerRuntime: number;
  pssKibPerRuntime: number;
  before: ProcessMemory;
  after: ProcessMemory;
  /** The share of right runs. Each runtime makes two runs. */
  successRate: number;
  failures: string[];
}

export type DensityRun = { density: Recorded<DensityResult>[] };

interface DensitySetup {
  /** The number of live runtimes. 0 omits the rows. */
  options: { density: number };
}

const WIDTH = 16;
const WARMUP = 8;
const HANG_MS = 15_000;
const FAILURES = 10;

export async function measureDensity(
  kind: string,
  count: number,
  open: () => Promise<LiveProvisioner>,
  read: (pid: number) => ProcessMemory = readProcessMemory,
): Promise<DensityResult> {
  const provisioner = await open();
  try {
    const warmUp = runRounds({ warmup: WARMUP, rounds: 0 }, () => useOnce(provisioner));
    await withDeadline('density warm-up', HANG_MS, warmUp);
    const before = read(provisioner.pid);
    const { live, failures } = await withDeadline('density', HANG_MS, startMany(provisioner, count));
    const after = read(provisioner.pid);
    // A runtime counts as alive only if its second run is right.
    failures.push(...(await withDeadline('density, second run', HANG_MS, runAgain(live))));
    const each = (pick: (memory: ProcessMemory) => number) => (pick(after) - pick(before)) / live.length;
    return {
      kind,
      live: live.length,
      privateKibPerRuntime: privateGrowthKib(before, after) / live.length,
      pageTablesKibPerRuntime: each((memory) => memory.pageTablesKib),
      pssKibPerRuntime: each((memory) => memory.pssKib),
      before,
      after,
      successRate: 1 - failures.length / (2 * count),
      failures: failures.slice(0, FAILURES),
    };
  } finally {
    await withDeadline('closing the density row', HANG_MS, provisioner.close());
  }
}

async function useOnce(provisioner: LiveProvisioner): Promise<void> {
  const executor = await provisioner.start();
  await runSnippet(executor);
  await executor.dispose();
}

async function startMany(provisioner: LiveProvisioner, count: number) {
  const live: Executor[] = [];
  const failures = await collectProblems(count, async () => {
    const executor = await provisioner.start();
    live.push(executor);
    return runSnippet(executor);
  });
  return { live, failures };
}

const runAgain = (live: readonly Executor[]): Promise<string[]> =>
  collectProblems(live.length, (index) => {
    const executor = live[index];
    return executor ? runSnippet(executor) : Promise.resolve('not alive');
  });

async function runSnippet(executor: Executor): Promise<string | undefined> {
  const snippet = makeSnippet();
  return problemOf(snippet, await executor.exec(snippet.code));
}

async function collectProblems(count: number, work: (index: number) => Promise<string | undefined>): Promise<string[]> {
  const problems: string[] = [];
  await runConcurrently({ count, width: WIDTH }, async (index) => {
    const problem = await work(index).catch(String);
    if (problem) problems.push(problem);
  });
  return problems;
}

const provisionWith = (start: (sidecar: Sidecar) => Promise<Executor>) => async (): Promise<LiveProvisioner> => {
  const sidecar = await Sidecar.spawn();
  return { pid: sidecar.pid, start: () => start(sidecar), close: () => sidecar.dispose() };
};

const kinds = [
  {
    name: 'runtime',
    target: { promise: 'M1', what: 'private memory per idle runtime', atMost: 300 },
    open: provisionWith(async (sidecar) => executorOf(await NodeRuntime.create({ sidecar }))),
  },
  {
    name: 'resident-runner',
    target: { promise: 'M2', what: 'private memory per idle resident runner', atMost: 300 },
    open: provisionWith(async (sidecar) => {
      const runtime = await NodeRuntime.create({ sidecar });
      const runner = await runtime.createResidentRunner();
      return { exec: (code) => runner.exec(code), dispose: () => runtime.dispose() };
    }),
  },
];

export const density: Section<DensitySetup, DensityRun, 'density'> = {
  field: 'density',
  recordsFailures: true,
  open: ({ options: { density: count } }) => ({
    rows: (count === 0 ? [] : kinds).map(({ name, open }) => ({
      name: `density of ${name}`,
      key: { row: `density of ${name}` },
      measure: () => measureDensity(name, count, open),
    })),
  }),
  describe: ({ live, privateKibPerRuntime, successRate }) =>
    `${live} live, ${privateKibPerRuntime.toFixed(1)} KiB each, right ${percentage(successRate)}`,
  outcomes: ({ kind, live, successRate, failures: [failure] }) => [
    { name: `density of ${kind}`, total: 2 * live, right: Math.round(successRate * 2 * live), failure },
  ],
  targets: kinds.map(({ name, target }) => ({
    ...target,
    unit: 'KiB',
    measured: ({ density: all }) => resultsIn(all).find((row) => row.kind === name)?.privateKibPerRuntime,
  })),
};
