// Turns a row's batches into its result.

import { type Statistics, summarize } from '../stats/statistics.js';
import type { Batch } from './batch.js';
import type { RowResult } from './result.js';
import type { Sample } from './sample.js';

/** Each runtime is asked for two runs; one that could not be started has failed both. */
const RUNS_PER_RUNTIME = 2;

export function summarizeBatches(
  batches: readonly Batch[],
): Pick<RowResult, 'coldStart' | 'warmStart' | 'amortised' | 'phases' | 'warmPhases' | 'runs' | 'samples'> {
  const samples = batches.flatMap((batch) => batch.samples);
  const coldMs = defined(samples.map((sample) => sample.coldMs));
  const warmMs = defined(samples.map((sample) => sample.warmMs));
  const amortised = batches.filter((batch) => batch.samples.length > 0).map((batch) => batch.wallMs / batch.samples.length);
  const total = samples.length * RUNS_PER_RUNTIME;
  const right = coldMs.length + warmMs.length;
  return {
    coldStart: summarize(coldMs),
    warmStart: summarize(warmMs),
    amortised: summarize(amortised),
    phases: phaseStatistics(samples.filter((sample) => sample.coldMs !== undefined).map((sample) => sample.coldPhases)),
    warmPhases: phaseStatistics(samples.filter((sample) => sample.warmMs !== undefined).map((sample) => sample.warmPhases)),
    runs: { total, right, successRate: total === 0 ? 0 : right / total, failures: countFailures(samples) },
    samples: { coldMs, warmMs, batchWallMs: batches.map((batch) => batch.wallMs) },
  };
}

const defined = (values: readonly (number | undefined)[]): number[] => values.filter((value) => value !== undefined);

function phaseStatistics(maps: readonly Map<string, number>[]): Record<string, Statistics> {
  const byPhase = new Map<string, number[]>();
  for (const phases of maps) {
    for (const [phase, durationMs] of phases) byPhase.set(phase, [...(byPhase.get(phase) ?? []), durationMs]);
  }
  return Object.fromEntries(
    [...byPhase].flatMap(([phase, values]) => {
      const statistics = summarize(values);
      return statistics ? [[phase, statistics] as const] : [];
    }),
  );
}

/** Same text, one entry; digits and tokens differ from run to run, so they are masked, and at most ten kinds are kept. */
function countFailures(samples: readonly Sample[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const failure of samples.flatMap((sample) => sample.failures)) {
    const kind = failure.replace(/"[0-9a-f]{12} \d+\\n"/g, '"…"');
    if (counts.has(kind) || counts.size < 10) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    else counts.set('others', (counts.get('others') ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}
