// The matrix benchmark measures operations of the public API and of guests in each mode. Calls are
// measured one at a time, several at once, and beside a neighbour that uses a processor. Node's
// equivalent of each operation is measured in turns with the modes.
//
// Next: `operations/` for the operations, `row.ts` for the measurement of a row.

import { pinnedOrOwnNode } from '../machine/pinned-node.js';
import type { Benchmark, Section } from '../suite/benchmark.js';
import { namesOption, numberOption, numbersOption, textOption } from '../suite/options.js';
import { ms } from '../suite/text.js';
import { matrixCharts } from './charts.js';
import { columnName, medianOf, planColumns } from './columns.js';
import type { Side } from './lane.js';
import type { Operation } from './operation.js';
import { operations, operationsNamed } from './operations/index.js';
import { type MatrixRow, measureRow } from './row.js';
import { openSides, SIDE_NAMES, type SideName } from './sides.js';
import { matrixTables } from './tables.js';

export type MatrixOptions = {
  /** Texts, separated by commas. A row is measured if its name contains one of the texts. */
  only: string;
  sides: readonly SideName[];
  /** Numbers of calls at once. */
  widths: readonly number[];
  rounds: number;
  budgetSeconds: number;
  quick: boolean;
};

export type MatrixRun = { rows: MatrixRow[] };

export interface MatrixSetup {
  operations: readonly Operation[];
  sides: ReadonlyMap<SideName, Side>;
  options: MatrixOptions;
}

const SLICE_MS = 8;
const QUICK_SLICE_MS = 1;
/** A rough guess of the milliseconds of a row, used only to divide the budget among rows. */
const GUESS_MS = 5_000;
/** A new process of Node in every call makes a row slow. */
const SLOW_GUESS_MS = 8_000;
const SLOW_GROUPS = ['programs', "the guest's calls"];

const nameOf = (operation: string, { side, ...column }: MatrixRow['cells'][number]): string =>
  `${operation}, ${side}, ${columnName(column)}`;

const rows: Section<MatrixSetup, MatrixRun, 'rows'> = {
  field: 'rows',
  open: ({ operations: chosen, sides, options: { widths, rounds, quick } }) => {
    const shape = { columns: planColumns(widths), sliceMs: quick ? QUICK_SLICE_MS : SLICE_MS, warmup: quick ? 0 : 1, rounds };
    return {
      rows: chosen.map((operation) => ({
        name: operation.name,
        key: { row: operation.name },
        guessMs: SLOW_GROUPS.includes(operation.group) ? SLOW_GUESS_MS : GUESS_MS,
        measure: ({ budgetMs }) => measureRow(operation, sides, { ...shape, budgetMs }),
      })),
    };
  },
  describe: (row) => {
    const alone = { width: 1, isBesideNeighbour: false };
    const sides = [...new Set(row.cells.map(({ side }) => side))];
    return [sides.map((side) => `${side} ${ms(medianOf(row, side, alone))} ms`).join(', '), ...row.notes].join('; ');
  },
  outcomes: ({ operation, cells, notes }) => {
    const [failed] = cells.filter(({ runs }) => runs.right < runs.total);
    const total = cells.reduce((sum, { runs }) => sum + runs.total, 0);
    const right = cells.reduce((sum, { runs }) => sum + runs.right, 0);
    const failure = failed && `${failed.side}: ${Object.keys(failed.runs.failures)[0]}`;
    const [broken] = notes.filter((note) => !note.startsWith('time budget'));
    // A side that could not be opened has no cells, and its note is the reason.
    return [{ name: operation, total, right, failure, notes, ...(broken !== undefined && { isAccepted: false }) }];
  },
  figures: ({ operation, cells }) =>
    cells.map((cell) => ({ name: nameOf(operation, cell), statistics: cell.statistics, isFloor: cell.side === 'node' })),
  tables: (run) => matrixTables(run.rows),
  charts: (run) => matrixCharts(run.rows),
};

export const matrix: Benchmark<MatrixOptions, MatrixSetup, MatrixRun> = {
  name: 'matrix',
  schema: 'coldframe-matrix/1',
  heading: 'Coldframe: every operation in every mode',
  summary: `Operations of the API and of guests: in each mode, several calls at once, beside a neighbour that uses a
processor, and in Node.`,
  options: {
    only: textOption({
      name: '--only',
      placeholder: 'TEXTS',
      help: 'only the operations whose name contains one of these texts, separated by commas',
      fallback: '',
    }),
    sides: namesOption({ name: '--sides', help: 'modes, and Node' }, SIDE_NAMES),
    widths: numbersOption({
      name: '--at-once',
      placeholder: 'NUMBERS',
      help: 'calls at once',
      fallback: [1, 4, 8],
      quick: [1, 2],
      from: 1,
      to: 256,
    }),
    rounds: numberOption({
      name: '--rounds',
      placeholder: 'N',
      help: 'most rounds of a row',
      fallback: 12,
      quick: 1,
      from: 1,
      to: 10_000,
    }),
    budgetSeconds: numberOption({
      name: '--seconds',
      placeholder: 'N',
      help: 'time of the whole run; if the time is short, rows have fewer rounds',
      fallback: 290,
      from: 10,
      to: 86_400,
    }),
  },
  hasQuickForm: true,
  floorSamples: ({ quick }) => (quick ? 2 : 20),
  budgetMs: ({ budgetSeconds }, floorsMs) => Math.max(0, budgetSeconds * 1_000 - 2 * floorsMs),
  outOfTime: 'no time left (--seconds)',
  open: async (options, { scratch }) => {
    const sides = new Map<SideName, Side>();
    const close = async () => {
      await Promise.all([...sides.values()].map((side) => side.close()));
    };
    try {
      for (const name of options.sides) sides.set(name, await openSides[name](scratch));
    } catch (error) {
      await close();
      throw error;
    }
    return { setup: { operations: operationsNamed(options.only, operations), sides, options }, close };
  },
  facts: () => ({ nodeOfPrograms: pinnedOrOwnNode() === process.execPath ? 'the Node of the benchmark' : 'the pinned Node' }),
  sections: [rows],
};
