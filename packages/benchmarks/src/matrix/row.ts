// Measures one operation: every side with every number of lanes at once, and beside a neighbour.
//
// The cells of a row are measured in turns, a slice of each cell in a round. So a disturbance of
// the machine affects all cells of the round. Each round begins with another cell, so that no cell
// always follows the same cell. Each row has lanes of its own, and a lane has a runtime of its own.

import { type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import { withDeadline } from '../suite/deadline.js';
import { countRuns, type Runs, reason } from '../suite/failures.js';
import { anotherFits, runRounds } from '../suite/rounds.js';
import type { Lane, Side } from './lane.js';
import type { OpenedOperation, Operation, Slice } from './operation.js';
import type { SideName } from './sides.js';

/** Lanes that make calls at once, and whether a neighbour works beside the lanes. */
export interface Column {
  width: number;
  isBesideNeighbour: boolean;
}

export interface Cell extends Column {
  side: SideName;
  /** Milliseconds of a call. `null` when no call was right. */
  statistics: Statistics | null;
  /** The median of each round with a right call. */
  rounds: number[];
  runs: Runs;
}

/** One result in the JSON. A side that has no such call has no cells. */
export interface MatrixRow {
  operation: string;
  group: string;
  cells: Cell[];
  notes: string[];
}

export interface RowShape {
  columns: readonly Column[];
  sliceMs: number;
  warmup: number;
  rounds: number;
  budgetMs: number;
}

/** The longest time of a slice, and of opening or closing a lane. */
const HANG_MS = 60_000;

interface OpenedSide {
  name: SideName;
  side: Side;
  lanes: Lane[];
  calls: OpenedOperation[];
}

interface OpenCell {
  cell: Column & { side: SideName };
  opened: OpenedSide;
  slices: Slice[][];
}

export async function measureRow(
  operation: Operation,
  sides: ReadonlyMap<SideName, Side>,
  { columns, sliceMs, warmup, rounds, budgetMs }: RowShape,
): Promise<MatrixRow> {
  const deadline = now() + budgetMs;
  const width = Math.max(...columns.map((column) => column.width));
  const notes: string[] = [];
  const all: OpenedSide[] = [];
  try {
    for (const [name, side] of sides) {
      const opened: OpenedSide = { name, side, lanes: [], calls: [] };
      all.push(opened);
      await openLanes(operation, opened, width).catch((error) => notes.push(`${name}: ${reason(error)}`));
    }
    const cells = all
      .filter(({ calls }) => calls.length === width)
      .flatMap((opened) => columns.map((column): OpenCell => ({ cell: { side: opened.name, ...column }, opened, slices: [] })));
    const walls: { wallMs: number }[] = [];
    let first = 0;
    await runRounds(
      { warmup, rounds },
      async (isWarmup) => {
        const from = now();
        for (let index = 0; index < cells.length; index++) {
          const each = cells[(index + first) % cells.length];
          const slice = each && (await sampleCell(each, sliceMs));
          if (slice && !isWarmup) each.slices.push(slice);
        }
        first++;
        walls.push({ wallMs: now() - from });
      },
      () => walls.length === warmup || anotherFits(walls, deadline - now()),
    );
    const done = walls.length - warmup;
    if (done < rounds) notes.push(`time budget: ${done} of ${rounds} rounds`);
    return { operation: operation.name, group: operation.group, cells: cells.map(summarizeCell), notes };
  } finally {
    await Promise.all(all.map(closeLanes));
  }
}

async function openLanes(operation: Operation, { side, name, lanes, calls }: OpenedSide, width: number): Promise<void> {
  while (lanes.length < width) {
    const lane = await withDeadline(`opening ${name}`, HANG_MS, side.openLane(operation.places));
    lanes.push(lane);
    const opened = await withDeadline(`preparing ${operation.name}`, HANG_MS, operation.open(lane));
    if (opened === undefined) return;
    calls.push(opened);
  }
}

async function closeLanes({ lanes, calls }: OpenedSide): Promise<void> {
  const close = async (work: Promise<void> | undefined) => work && (await withDeadline('closing', HANG_MS, work).catch(() => {}));
  await Promise.all(calls.map((each) => close(each.close?.())));
  await Promise.all(lanes.map((lane) => close(lane.close())));
}

async function sampleCell({ cell: { width, isBesideNeighbour }, opened }: OpenCell, sliceMs: number): Promise<Slice[]> {
  const neighbour = isBesideNeighbour ? await withDeadline('a neighbour', HANG_MS, opened.side.startNeighbour()) : undefined;
  try {
    return await Promise.all(
      opened.calls.slice(0, width).map(async (calls) => {
        try {
          return await withDeadline('a slice', HANG_MS, calls.sample(sliceMs));
        } catch (error) {
          return { samples: [], failures: [reason(error)] };
        }
      }),
    );
  } finally {
    if (neighbour) await withDeadline('the end of a neighbour', HANG_MS, neighbour.stop());
  }
}

function summarizeCell({ cell, slices }: OpenCell): Cell {
  const all = slices.flat();
  const samples = all.flatMap((slice) => slice.samples);
  const failures = all.flatMap((slice) => slice.failures);
  return {
    ...cell,
    statistics: summarize(samples),
    rounds: slices.flatMap((round) => summarize(round.flatMap((slice) => slice.samples))?.p50 ?? []),
    runs: countRuns(samples.length + failures.length, failures),
  };
}
