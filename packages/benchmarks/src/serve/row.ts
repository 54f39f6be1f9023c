// Declares the rows of the benchmark: times of single calls, and rates of calls in flight at once.

import type { NodeRuntime, Sidecar } from 'coldframe';
import { ratioOf, type Statistics, summarize } from '../statistics/statistics.js';
import { reason } from '../suite/failures.js';
import type { Place } from './place.js';

/** The parts that rows measure. */
export interface ServeSetup {
  place: Place;
  sidecar: Sidecar;
  base: NodeRuntime;
  /** Samples of each time. */
  samples: number;
}

/** A promise about a time, or about its ratio to the floor. */
export interface TimeTarget {
  promise: string;
  atMost: number;
  of: 'value' | 'ratio';
}

/** A row whose samples are milliseconds. */
export interface TimeRow {
  name: string;
  /** The other side, which is measured in turns. */
  floor: string;
  target?: TimeTarget;
  measure(setup: ServeSetup): Promise<{ server: number[]; floor: number[] }>;
}

/** One result in the JSON. Statistics are in milliseconds. */
export interface TimeResult {
  name: string;
  floorName: string;
  server: Statistics | null;
  floor: Statistics | null;
  ratio: number | null;
  bound: string;
  error?: string;
}

/** Measures a row. A failed row has a reason and no figures. */
export async function measureTime(row: TimeRow, setup: ServeSetup): Promise<TimeResult> {
  const { name, floor: floorName, target } = row;
  const bound = target === undefined ? '' : `≤ ${target.atMost} ${target.of === 'ratio' ? '×' : 'ms'}`;
  try {
    const measured = await row.measure(setup);
    const [server, floor] = [summarize(measured.server), summarize(measured.floor)];
    return { name, floorName, server, floor, ratio: ratioOf(server?.p50, floor?.p50) ?? null, bound };
  } catch (error) {
    return { name, floorName, server: null, floor: null, ratio: null, bound, error: reason(error) };
  }
}

/** Runs `call` for each index below `total`, with at most `width` calls in flight. */
export async function inFlight(total: number, width: number, call: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < total) await call(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, total) }, lane));
}
