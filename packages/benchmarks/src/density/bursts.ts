// Measures bursts. N callers begin at once, and each caller creates a runtime and waits for the
// runtime's first reply. The knee of a kind is the smallest N that reaches 90 % of the best rate.

import type { MeasuredRuntime, OpenSidecar } from '../sandbox/runtime.js';
import { type Statistics, summarize } from '../statistics/statistics.js';
import { isValue, startTogether } from '../suite/concurrency.js';
import { reason } from '../suite/failures.js';
import { runRounds } from '../suite/rounds.js';
import { type KindName, type LiveSource, openSource } from './kinds.js';

export interface BurstRow {
  n: number;
  rounds: number;
  /** The time from the common start to the first reply of each runtime. */
  answerMs: Statistics | null;
  wallMs: Statistics | null;
  perSecond: number;
  successRate: number;
  failures: string[];
}

export interface BurstResult {
  kind: KindName;
  rows: BurstRow[];
  /** The smallest N that reaches 90 % of the best rate. With more callers the rate hardly rises. */
  knee: number | undefined;
}

export interface BurstShape {
  kind: KindName;
  sizes: readonly number[];
  rounds: number;
  directory: string;
}

const NEAR_BEST = 0.9;
const WARMUP = 1;
const FAILURES = 5;

export async function measureBurst(open: OpenSidecar, { kind, sizes, rounds, directory }: BurstShape): Promise<BurstResult> {
  const source = await openSource(kind, open, directory);
  try {
    const rows: BurstRow[] = [];
    for (const n of sizes) rows.push(await measureSize(n, rounds, source));
    return { kind, rows, knee: kneeOf(rows) };
  } finally {
    await source.sidecar.close();
  }
}

async function measureSize(n: number, rounds: number, source: LiveSource): Promise<BurstRow> {
  const [walls, answers, failures]: [number[], number[], string[]] = [[], [], []];
  await runRounds({ warmup: WARMUP, rounds }, async (isWarmup) => {
    const runtimes: MeasuredRuntime[] = [];
    const { timings, items } = await startTogether(n, async (_, mark) => {
      const runtime = await source.create();
      runtimes.push(runtime);
      await source.probe(runtime);
      mark('answer');
    });
    await Promise.all(runtimes.map((runtime) => runtime.dispose().catch((error) => failures.push(`dispose: ${reason(error)}`))));
    if (isWarmup) return;
    if (timings.answer) walls.push(timings.answer.wallMs);
    answers.push(...(timings.answer?.eachMs ?? []).filter((value) => value !== undefined));
    failures.push(...items.flatMap((item) => (isValue(item) ? [] : item.error)));
  });
  const wallMs = summarize(walls);
  const successRate = answers.length / (n * rounds);
  const perSecond = wallMs ? (successRate * n * 1000) / wallMs.p50 : 0;
  return {
    n,
    rounds,
    answerMs: summarize(answers),
    wallMs,
    perSecond,
    successRate,
    failures: [...new Set(failures)].slice(0, FAILURES),
  };
}

export function kneeOf(rows: readonly Pick<BurstRow, 'n' | 'perSecond'>[]): number | undefined {
  const best = Math.max(...rows.map(({ perSecond }) => perSecond));
  return rows.find(({ perSecond }) => perSecond > 0 && perSecond >= NEAR_BEST * best)?.n;
}
