// Declares the type of a row of the network benchmark, and measures a row.

import type { Sidecar } from 'coldframe';
import { ratioOf, type Statistics, scale, summarize } from '../statistics/statistics.js';
import { reason } from '../suite/failures.js';
import type { PeerPorts } from './peer.js';

export type NetworkUnit = 'µs' | 'ms';

export interface NetworkSetup {
  sidecar: Sidecar;
  ports: PeerPorts;
}

/** A promise about a row: the sandbox's median, or its ratio to the floor. */
export interface NetworkTarget {
  promise: string;
  atMost: number;
  of: 'value' | 'ratio';
}

/** The milliseconds of each sample. `floor` is absent for a row without another side. */
export interface RowSamples {
  sandbox: number[];
  floor?: number[];
}

export interface NetworkRow {
  name: string;
  unit: NetworkUnit;
  /** The other side of the row, to which the ratio refers. @default 'Node' */
  floor?: string;
  target?: NetworkTarget;
  /** The figure of both sides that the ratio compares. @default 'p50' */
  compares?: 'p50' | 'p99';
  measure(setup: NetworkSetup): Promise<RowSamples>;
}

/** One result in the JSON. Statistics are in `unit`. */
export interface NetworkResult {
  name: string;
  unit: NetworkUnit;
  floorName: string;
  sandbox: Statistics | null;
  floor: Statistics | null;
  /** The ratio of the medians, or of the figures that the row compares. */
  ratio: number | null;
  bound: string;
  /** The reason why the row has no figures. */
  error?: string;
}

const PER_MS: Readonly<Record<NetworkUnit, number>> = { µs: 1_000, ms: 1 };

export async function measureRow(row: NetworkRow, setup: NetworkSetup): Promise<NetworkResult> {
  const { name, unit, floor: floorName = 'Node', compares = 'p50', target } = row;
  const head = { name, unit, floorName, bound: boundOf(row) };
  try {
    const measured = await row.measure(setup);
    const [sandbox, floor] = [statisticsIn(unit, measured.sandbox), statisticsIn(unit, measured.floor ?? [])];
    return { ...head, sandbox, floor, ratio: ratioOf(sandbox?.[compares], floor?.[compares]) ?? null };
  } catch (error) {
    return { ...head, sandbox: null, floor: null, ratio: null, error: reason(error) };
  }

  function boundOf({ unit: of }: NetworkRow): string {
    if (target === undefined) return '';
    return target.of === 'ratio' ? `≤ ${target.atMost} ×` : `≤ ${target.atMost} ${of}`;
  }
}

function statisticsIn(unit: NetworkUnit, samples: readonly number[]): Statistics | null {
  const statistics = summarize(samples);
  return statistics && scale(statistics, PER_MS[unit]);
}

/** Returns statistics of a result in milliseconds, which `bench:compare` shows. */
export const inMilliseconds = (unit: NetworkUnit, statistics: Statistics | null): Statistics | null =>
  statistics && scale(statistics, 1 / PER_MS[unit]);
