// Measures the throughput of one shared sidecar: rounds of 64 runtimes, 16 at a time. Each runtime
// is created, runs one checked snippet and is disposed of. The wall time of a round includes all
// three steps, so the rate is sustainable.

import { makeSnippet, problemOf, type Snippet } from '../sandbox/snippet.js';
import { type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import type { Section } from '../suite/benchmark.js';
import { runConcurrently } from '../suite/concurrency.js';
import { withDeadline } from '../suite/deadline.js';
import { runRounds } from '../suite/rounds.js';
import type { Recorded } from '../suite/run.js';
import { isFailure } from '../suite/run.js';
import { percentage } from '../suite/text.js';
import type { Provisioner, Scenario } from './scenario.js';
import type { ScenarioName } from './scenarios.js';

export interface ThroughputResult {
  scenario: ScenarioName;
  starts: number;
  width: number;
  rounds: number;
  /**
   * Starts per second, one value per round. A failed start adds to the time but is not counted as a
   * start.
   */
  startsPerSecond: Statistics | null;
  samples: number[];
  successRate: number;
  failures: string[];
}

export type ThroughputRun = { throughput?: Recorded<ThroughputResult> | null };

interface ThroughputSetup {
  scenarios: Readonly<Record<ScenarioName, Scenario>>;
}

export interface ThroughputShape {
  starts: number;
  width: number;
  rounds: number;
  warmupRounds: number;
}

const SHAPE: ThroughputShape = { starts: 64, width: 16, rounds: 30, warmupRounds: 3 };
const SCENARIO = 'shared-sidecar';
const HANG_MS = 10_000;
const FAILURES = 10;

export async function measureThroughput(
  scenario: Pick<Scenario, 'open'>,
  { starts, width, rounds, warmupRounds }: ThroughputShape,
): Promise<ThroughputResult> {
  const failures: string[] = [];
  const samples: number[] = [];
  let right = 0;
  const provisioner = await withDeadline(`opening ${SCENARIO}`, HANG_MS, scenario.open());
  try {
    await runRounds({ warmup: warmupRounds, rounds }, async (isWarmup) => {
      const round = await withDeadline('a round of starts', HANG_MS, runRound(provisioner, starts, width));
      if (isWarmup) return;
      const rightStarts = starts - round.failures.length;
      samples.push((rightStarts * 1000) / round.wallMs);
      right += rightStarts;
      failures.push(...round.failures);
    });
  } finally {
    await withDeadline(`closing ${SCENARIO}`, HANG_MS, provisioner.close());
  }
  return {
    scenario: SCENARIO,
    starts,
    width,
    rounds,
    startsPerSecond: summarize(samples),
    samples,
    successRate: right / (starts * rounds),
    failures: failures.slice(0, FAILURES),
  };
}

async function runRound(provisioner: Provisioner, starts: number, width: number) {
  const failures: string[] = [];
  const snippets = Array.from({ length: starts }, makeSnippet);
  const startedAt = now();
  await runConcurrently({ count: starts, width }, async (index) => {
    const problem = await startOnce(provisioner, snippets[index] ?? makeSnippet()).catch(String);
    if (problem) failures.push(problem);
  });
  return { wallMs: now() - startedAt, failures };
}

async function startOnce(provisioner: Provisioner, snippet: Snippet): Promise<string | undefined> {
  const executor = await provisioner.start(() => {});
  try {
    return problemOf(snippet, await executor.exec(snippet.code));
  } finally {
    await executor.dispose();
  }
}

export const throughput: Section<ThroughputSetup, ThroughputRun, 'throughput'> = {
  field: 'throughput',
  isSingle: true,
  recordsFailures: true,
  open: ({ scenarios }) => ({
    rows: [
      {
        name: 'throughput',
        key: { row: 'throughput' },
        measure: () => measureThroughput(scenarios[SCENARIO], SHAPE),
      },
    ],
  }),
  describe: ({ startsPerSecond, successRate }) =>
    `${Math.round(startsPerSecond?.p50 ?? 0)} starts/s, right ${percentage(successRate)}`,
  outcomes: ({ starts, rounds, successRate, failures: [failure] }) => [
    { name: 'throughput', total: starts * rounds, right: Math.round(successRate * starts * rounds), failure },
  ],
  targets: [
    {
      promise: 'S12',
      what: 'shared, 64 starts, 16 at a time',
      unit: 'starts/s',
      atLeast: 5_000,
      measured: ({ throughput: result }) => (result && !isFailure(result) ? result.startsPerSecond?.p50 : undefined),
    },
  ],
};
