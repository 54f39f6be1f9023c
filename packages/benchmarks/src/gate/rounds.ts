// Measures rows in interleaved rounds: a slice of each row in every round, with the row's floor
// before and after the slice.

import type { Slice } from '../matrix/operation.js';
import { median, type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import { withDeadline } from '../suite/deadline.js';
import { countRuns, type Runs, reason } from '../suite/failures.js';
import { anotherFits, runRounds } from '../suite/rounds.js';

/** A row whose lane and floor are open. */
export interface OpenRow {
  name: string;
  sample(sliceMs: number): Promise<Slice>;
  /** Measures the floor once, in milliseconds. */
  floor(): Promise<number>;
}

/** The measurement of a row. */
export interface RowFigures {
  /** The time of the operation divided by the time of the floor: one value for each round. */
  value: Statistics | null;
  rounds: number[];
  /** Milliseconds: one median for each round. */
  operationMs: Statistics | null;
  floorMs: Statistics | null;
  runs: Runs;
}

export interface RoundShape {
  rounds: number;
  warmup: number;
  sliceMs: number;
  /** Samples of the floor before a slice, and after a slice. */
  floorSamples: number;
  deadline: number;
}

const HANG_MS = 60_000;

interface Collected {
  row: OpenRow;
  operation: number[];
  floor: number[];
  calls: number;
  failures: string[];
}

/** Measures every row. Returns the figures in the order of the rows. */
export async function measureRounds(
  rows: readonly OpenRow[],
  { rounds, warmup, sliceMs, floorSamples, deadline }: RoundShape,
  progress: (text: string) => void = () => {},
): Promise<RowFigures[]> {
  const collected = rows.map((row): Collected => ({ row, operation: [], floor: [], calls: 0, failures: [] }));
  const walls: { wallMs: number }[] = [];
  await runRounds(
    { warmup, rounds },
    async (isWarmup) => {
      const from = now();
      // Each round begins with another row, so that no row always follows the same row.
      for (let index = 0; index < collected.length; index++) {
        const each = collected[(index + walls.length) % collected.length];
        if (each) await measureRound(each, sliceMs, floorSamples, isWarmup);
      }
      walls.push({ wallMs: now() - from });
      progress(`round ${walls.length} of ${warmup + rounds}`);
    },
    () => walls.length === warmup || anotherFits(walls, deadline - now()),
  );
  return collected.map(figuresOf);
}

async function measureRound(collected: Collected, sliceMs: number, floorSamples: number, isWarmup: boolean): Promise<void> {
  const { row } = collected;
  try {
    const floor: number[] = [];
    const takeFloor = async () => {
      for (let index = 0; index < floorSamples; index++) {
        floor.push(await withDeadline(`the floor of ${row.name}`, HANG_MS, row.floor()));
      }
    };
    await takeFloor();
    const { samples, failures } = await withDeadline(row.name, HANG_MS, row.sample(sliceMs));
    await takeFloor();
    if (isWarmup) return;
    collected.calls += samples.length + failures.length;
    collected.failures.push(...failures);
    if (samples.length === 0) return;
    collected.operation.push(median(samples));
    collected.floor.push(median(floor));
  } catch (error) {
    collected.calls++;
    collected.failures.push(reason(error));
  }
}

function figuresOf({ operation, floor, calls, failures }: Collected): RowFigures {
  const rounds = operation.map((value, index) => value / (floor[index] ?? Number.NaN));
  return {
    value: failures.length > 0 ? null : summarize(rounds),
    rounds,
    operationMs: summarize(operation),
    floorMs: summarize(floor),
    runs: countRuns(calls, failures),
  };
}
