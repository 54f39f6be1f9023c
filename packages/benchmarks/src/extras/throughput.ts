// Throughput: one shared sidecar, rounds of 64 runtimes, 16 at a time; each is created, runs one checked snippet and is disposed
// of. The wall time of a round holds all three, so this is a rate that could be kept up.

import { withDeadline } from '../matrix/deadline.js';
import type { ScenarioAdapter, ScenarioHost } from '../scenarios/adapter.js';
import { makeSnippet, type Snippet, whatIsWrong } from '../scenarios/snippet.js';
import { type Statistics, summarize } from '../stats/statistics.js';
import { now } from '../stats/timer.js';

export interface ThroughputResult {
  scenario: string;
  starts: number;
  width: number;
  rounds: number;
  /** Starts per second, one value per round; failed starts count in the time and not in the number. */
  startsPerSecond: Statistics | null;
  samples: number[];
  successRate: number;
  failures: string[];
}

export interface ThroughputShape {
  starts: number;
  width: number;
  rounds: number;
  warmupRounds: number;
}

export const THROUGHPUT: ThroughputShape = { starts: 64, width: 16, rounds: 30, warmupRounds: 3 };

const HANG_MS = 10_000;

export async function measureThroughput(adapter: ScenarioAdapter, shape: ThroughputShape): Promise<ThroughputResult> {
  const failures: string[] = [];
  const samples: number[] = [];
  let right = 0;
  const host = await withDeadline(`opening ${adapter.name}`, HANG_MS, adapter.open());
  try {
    for (let round = -shape.warmupRounds; round < shape.rounds; round++) {
      const result = await withDeadline('a round of starts', HANG_MS, runRound(host, shape));
      if (round < 0) continue;
      samples.push((result.right * 1000) / result.wallMs);
      right += result.right;
      failures.push(...result.failures);
    }
  } finally {
    await withDeadline(`closing ${adapter.name}`, HANG_MS, host.close());
  }
  const { starts, width, rounds } = shape;
  return {
    scenario: adapter.name,
    starts,
    width,
    rounds,
    startsPerSecond: summarize(samples),
    samples,
    successRate: right / (starts * rounds),
    failures: failures.slice(0, 10),
  };
}

async function runRound(host: ScenarioHost, { starts, width }: ThroughputShape) {
  const failures: string[] = [];
  const snippets = Array.from({ length: starts }, makeSnippet);
  const place = async () => {
    for (let snippet = snippets.pop(); snippet; snippet = snippets.pop()) {
      const wrong = await startOnce(host, snippet).catch(String);
      if (wrong) failures.push(wrong);
    }
  };
  const startedAt = now();
  await Promise.all(Array.from({ length: width }, place));
  return { wallMs: now() - startedAt, right: starts - failures.length, failures };
}

async function startOnce(host: ScenarioHost, snippet: Snippet): Promise<string | undefined> {
  const instance = await host.start(() => {});
  try {
    return whatIsWrong(snippet, await instance.exec(snippet.code));
  } finally {
    await instance.dispose();
  }
}
