// Turns a row's rounds into its result.

import { summarize } from '../stats/statistics.js';
import { type RowPlan, variantOf } from './plan.js';
import type { LifecycleRow, Measure } from './result.js';
import type { Round } from './round.js';

export function summarizeRounds(plan: RowPlan, rounds: readonly Round[], notes: string[]): LifecycleRow {
  const failures = rounds.flatMap((round) => round.failures);
  const total = rounds.reduce((sum, { attempts }) => sum + attempts, 0);
  const right = total - failures.length;
  const { operation, n, megabytes, way, warmup } = plan;
  return {
    operation,
    variant: variantOf(plan),
    n,
    megabytes,
    ...(way !== undefined && { way }),
    rounds: rounds.length,
    warmup,
    measures: Object.fromEntries(namesOf(rounds.map(({ timings }) => timings)).map((name) => [name, measure(name, rounds, n)])),
    runs: { total, right, successRate: total === 0 ? 0 : right / total, failures: countFailures(failures) },
    facts: Object.fromEntries(
      namesOf(rounds.map(({ facts }) => facts)).flatMap((name) => {
        const statistics = summarize(rounds.flatMap(({ facts }) => facts[name] ?? []));
        return statistics ? [[name, statistics] as const] : [];
      }),
    ),
    notes,
  };
}

function measure(name: string, rounds: readonly Round[], n: number): Measure {
  const timings = rounds.flatMap((round) => round.timings[name] ?? []);
  const wallMs = timings.map((timing) => timing.wallMs);
  const eachMs = timings.flatMap((timing) => timing.eachMs);
  return {
    wall: summarize(wallMs),
    per: summarize(wallMs.map((value) => value / n)),
    each: summarize(eachMs),
    samples: { wallMs, eachMs },
  };
}

const namesOf = (records: readonly Readonly<Record<string, unknown>>[]): string[] => [...new Set(records.flatMap(Object.keys))];

/** Tokens, names and numbers differ from run to run: they are masked, and at most ten kinds are kept. */
function countFailures(failures: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const failure of failures) {
    const kind = failure
      .replace(/[0-9a-f]{12}/g, '…')
      .replace(/snap-[a-z0-9]+/g, 'snap-…')
      .replace(/\d{4,}/g, '…');
    const key = kind in counts || Object.keys(counts).length < 10 ? kind : 'others';
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
