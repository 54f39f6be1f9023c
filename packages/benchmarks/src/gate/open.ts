// Opens the sides, the lanes and the floors of the gate's rows. All rows stay open for the whole
// run, because the rounds of the rows are interleaved.

import type { FloorProbe } from '../floors/floor.js';
import { describeHardware } from '../machine/hardware.js';
import type { Lane, Side } from '../matrix/lane.js';
import type { OpenedOperation } from '../matrix/operation.js';
import { operations } from '../matrix/operations/index.js';
import { openSides, type SideName } from '../matrix/sides.js';
import type { Opened } from '../suite/benchmark.js';
import { type Baseline, machineDifferences } from './baseline.js';
import type { GateOptions, GateSetup } from './benchmark.js';
import { gateFloors } from './floors.js';
import { type GateRow, gateRows } from './rows.js';

type Close = () => Promise<void>;

/** Opens the rows whose name contains `only`. */
export async function openGate(
  options: GateOptions,
  baseline: Baseline | undefined,
  scratch: string,
): Promise<Opened<GateSetup>> {
  const closes: Close[] = [];
  const close = async () => {
    for (const each of closes.reverse()) await each();
  };
  try {
    const wanted = gateRows.filter(({ name }) => name.includes(options.only));
    const rows = await openRows(wanted, scratch, closes);
    const differences = baseline && !options.update ? machineDifferences(baseline, describeHardware()) : [];
    return { setup: { rows, baseline, differences, options }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openRows(wanted: readonly GateRow[], scratch: string, closes: Close[]): Promise<GateSetup['rows']> {
  const sides = new Map<SideName, Side>();
  const floors = new Map<string, FloorProbe>();
  const rows: GateSetup['rows'][number][] = [];
  for (const row of wanted) {
    let side = sides.get(row.side);
    if (!side) {
      side = await openSides[row.side](scratch);
      sides.set(row.side, side);
      closes.push(() => side?.close() ?? Promise.resolve());
    }
    let floor = floors.get(row.floor);
    if (!floor) {
      floor = await gateFloors[row.floor].open();
      floors.set(row.floor, floor);
      closes.push(() => floor?.close?.() ?? Promise.resolve());
    }
    const calls = await openCalls(row, side, closes);
    const { measure } = floor;
    rows.push({ ...row, open: { name: row.name, sample: (sliceMs) => calls.sample(sliceMs), floor: measure } });
  }
  return rows;
}

async function openCalls({ name, operation: wanted }: GateRow, side: Side, closes: Close[]): Promise<OpenedOperation> {
  const operation = operations.find((each) => each.name === wanted);
  if (!operation) throw new Error(`the matrix has no operation ${wanted}`);
  const lane: Lane = await side.openLane(operation.places);
  closes.push(() => lane.close());
  const calls = await operation.open(lane);
  if (!calls) throw new Error(`${name}: the mode has no such call`);
  closes.push(() => calls.close?.() ?? Promise.resolve());
  return calls;
}
