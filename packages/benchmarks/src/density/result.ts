// The shape of one row in the JSON.
//
// Each runtime ends as one of four (the names are those of the field's largest count): refused (was not made), readiness failed (was made and did not
// answer), partial (answered once and not again), success.

import type { Census } from '../machine/census.js';
import { type Statistics, summarize } from '../stats/statistics.js';
import type { KindName } from './kinds.js';

export interface LiveResult {
  kind: KindName;
  /** Asked for, and alive at the end. */
  count: number;
  live: number;
  /** In flight at once while they were made. */
  width: number;
  outcomes: { success: number; partial: number; readinessFailed: number; refused: number };
  successRate: number;
  failures: Record<string, number>;
  /** Private pages and page tables, each. */
  privateKib: number;
  pageTablesKib: number;
  pssKib: number;
  mappings: number;
  descriptors: number;
  /** Private pages and page tables, each, after all have been asked again. */
  privateKibAfterProbe: number;
  /** From the call to the first answer; those that failed have none. */
  createMs: Statistics | null;
  /** Medians of the first to the last quarter, in order of the calls. */
  quarters: number[];
  createWallMs: number;
  probeMs: Statistics | null;
  probeWallMs: number;
  /** Raw, in order of the calls; what failed is 0. */
  samples: { createMs: number[]; probeMs: number[] };
  before: Census;
  after: Census;
}

const QUARTERS = 4;

/** Medians from the first quarter of the calls to the last. */
export function quartersOf(ms: readonly (number | undefined)[]): number[] {
  const quarter = Math.ceil(ms.length / QUARTERS);
  const parts = Array.from({ length: QUARTERS }, (_, index) => ms.slice(index * quarter, (index + 1) * quarter));
  return parts.flatMap((part) => summarize(part.filter((value) => value !== undefined))?.p50 ?? []);
}

/** Tokens and numbers differ from one to the next: they are masked, and at most ten kinds are kept. */
export function countFailures(failures: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const failure of failures) {
    const kind = failure.replace(/[0-9a-f]{12}/g, '…').replace(/\d{3,}/g, '…');
    const key = kind in counts || Object.keys(counts).length < 10 ? kind : 'others';
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
