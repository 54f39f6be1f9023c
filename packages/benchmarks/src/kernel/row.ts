// Declares the type of a kernel benchmark's row, and measures a row. A row that fails has a result
// with the reason, and without figures.

import type { Sidecar } from 'coldframe';
import { type Statistics, scale, summarize } from '../statistics/statistics.js';
import { reason } from '../suite/failures.js';
import { judge, type Verdict } from '../suite/targets.js';

export type KernelUnit = 'µs' | 'ms';

export interface KernelRow {
  name: string;
  unit: KernelUnit;
  /** The promise about the sandbox's median, in the row's unit. */
  target?: { promise: string; atMost: number };
  /**
   * Returns the milliseconds of each sample. `node` is absent for a row without an equivalent in
   * Node.
   */
  measure(sidecar: Sidecar): Promise<{ sandbox: number[]; node?: number[] }>;
}

/** One result in the JSON. Statistics are in `unit`. */
export interface KernelResult {
  name: string;
  unit: KernelUnit;
  bound: number | null;
  sandbox: Statistics | null;
  node: Statistics | null;
  verdict: Verdict | null;
  /** The reason why the sandbox or Node has no figures. */
  error?: string;
}

const PER_MS: Readonly<Record<KernelUnit, number>> = { µs: 1_000, ms: 1 };

export async function measureRow({ name, unit, target, measure }: KernelRow, sidecar: Sidecar): Promise<KernelResult> {
  const head = { name, unit, bound: target?.atMost ?? null };
  try {
    const { sandbox, node = [] } = await measure(sidecar);
    const figures = { sandbox: summarizeIn(unit, sandbox), node: summarizeIn(unit, node) };
    return { ...head, ...figures, verdict: judge(figures.sandbox?.p50, target?.atMost) };
  } catch (error) {
    return { ...head, sandbox: null, node: null, verdict: judge(undefined, target?.atMost), error: reason(error) };
  }
}

function summarizeIn(unit: KernelUnit, samples: readonly number[]): Statistics | null {
  const statistics = summarize(samples);
  return statistics && scale(statistics, PER_MS[unit]);
}

/** Returns statistics of a result in milliseconds, which `bench:compare` shows. */
export const inMilliseconds = (unit: KernelUnit, statistics: Statistics | null): Statistics | null =>
  statistics && scale(statistics, 1 / PER_MS[unit]);
