// Burst capacity (B26): N callers begin at one moment, each makes a runtime and waits for its first answer. Up to which N does the rate rise, and what happens beyond?

import type { Box, OpenHost } from '../lifecycle/box.js';
import { reason } from '../lifecycle/box.js';
import { isValue, together } from '../lifecycle/together.js';
import { type Statistics, summarize } from '../stats/statistics.js';
import { type KindName, openCrowd } from './kinds.js';

export interface BurstRow {
  n: number;
  rounds: number;
  /** From the common start to the first answer of each. */
  answerMs: Statistics | null;
  wallMs: Statistics | null;
  perSecond: number;
  successRate: number;
  failures: string[];
}

export interface BurstResult {
  kind: KindName;
  rows: BurstRow[];
  /** The smallest N that reaches 90 % of the best rate: more callers than that wait for each other. */
  knee: number | undefined;
}

const NEAR_BEST = 0.9;
const WARMUP = 1;

export async function measureBurst(
  open: OpenHost,
  { kind, sizes, rounds, directory }: { kind: KindName; sizes: readonly number[]; rounds: number; directory: string },
): Promise<BurstResult> {
  const crowd = await openCrowd(kind, open, directory);
  try {
    const rows: BurstRow[] = [];
    for (const n of sizes) rows.push(await measureSize(n, rounds, crowd));
    return { kind, rows, knee: kneeOf(rows) };
  } finally {
    await crowd.host.close();
  }
}

async function measureSize(n: number, rounds: number, crowd: Awaited<ReturnType<typeof openCrowd>>): Promise<BurstRow> {
  const [walls, answers, failures]: [number[], number[], string[]] = [[], [], []];
  for (let round = -WARMUP; round < rounds; round++) {
    const boxes: Box[] = [];
    const { laps, items } = await together(n, async (_, lap) => {
      const box = await crowd.make();
      boxes.push(box);
      await crowd.probe(box);
      lap('answer');
    });
    await Promise.all(boxes.map((box) => box.dispose().catch((error) => failures.push(`dispose: ${reason(error)}`))));
    if (round < 0) continue;
    if (laps.answer) walls.push(laps.answer.wallMs);
    answers.push(...(laps.answer?.eachMs ?? []).filter((value) => value !== undefined));
    failures.push(...items.flatMap((item) => (isValue(item) ? [] : item.error)));
  }
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
    failures: [...new Set(failures)].slice(0, 5),
  };
}

export function kneeOf(rows: readonly Pick<BurstRow, 'n' | 'perSecond'>[]): number | undefined {
  const best = Math.max(...rows.map(({ perSecond }) => perSecond));
  return rows.find(({ perSecond }) => perSecond > 0 && perSecond >= NEAR_BEST * best)?.n;
}
