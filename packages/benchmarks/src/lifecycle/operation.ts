// Declares the type of a lifecycle operation, and the steps that operations share.
//
// An operation declares its sizes, its targets, and its lines on the page. A row opens the
// operation on the row's sidecar, runs rounds, and closes the operation. Next:
// `operations/snapshot.ts` for the first operation, and `row.ts`, which runs the rounds.

import {
  evaluateRight,
  type MeasuredRuntime,
  type MeasuredSidecar,
  type MeasuredSnapshot,
  type OpenSidecar,
  type RuntimeOptions,
} from '../sandbox/runtime.js';
import { reason } from '../suite/failures.js';
import type { Round, RoundRecord } from './round.js';
import { makeState, memoryQuestion, plantState, type State, writeMegabytes } from './state.js';

export interface Shape {
  /** The number of runtimes at once, or of clones. */
  n: number;
  /**
   * Megabytes that the guest writes before the operation. For a rollback, the guest writes after
   * the snapshot.
   */
  megabytes: number;
  /** The way of the operation, such as `clone`, if the operation has several ways. */
  way?: string;
}

/** Selects a row of an operation. @default `n` 1, `megabytes` 0, no `way` */
export type ShapeSelection = Partial<Shape>;

/** A figure of the operation on the charts. */
export interface ChartLine {
  name: string;
  measure: string;
  way?: string;
}

/** A promise about the wall time of an operation. */
export interface OperationTarget {
  promise: string;
  what: string;
  /** Milliseconds. */
  atMost: number;
  measure: string;
  /** The selected rows. The bound applies to the slowest row. */
  rows: readonly ShapeSelection[];
  /** Whether the wall time is divided by `n`. */
  each?: true;
}

export interface OpenOperation {
  round(): Promise<Round>;
  close?(): Promise<void>;
}

export interface Operation {
  readonly sizes: readonly Shape[];
  /** The sizes of the rows with `--quick`, which tests use. */
  readonly quickSizes: readonly Shape[];
  /** Counted rounds. @default depends on `n` and the megabytes, see `plan.ts` */
  readonly rounds?: number;
  /** Guesses the milliseconds of a round. @default `guessFor` */
  guessMs?(shape: Shape): number;
  readonly targets: readonly OperationTarget[];
  /** Measures for which ten runtimes at once are compared with one runtime. */
  readonly tenAgainstOne: readonly string[];
  readonly lines: readonly ChartLine[];
  /** Lines of the chart by megabytes. */
  readonly sizeLines?: readonly ChartLine[];
  open(row: RowSidecar, shape: Shape): Promise<OpenOperation>;
}

/** Declares sizes as `[n, megabytes, way]`. */
export const sizes = (...rows: readonly (readonly [n: number, megabytes: number, way?: string])[]): Shape[] =>
  rows.map(([n, megabytes, way]) => ({ n, megabytes, ...(way !== undefined && { way }) }));

/** Guesses the milliseconds of a round. */
export const guessFor = ({ n, megabytes }: Shape): number => 20 + 3 * n + 3 * n * megabytes;

/** The sidecar of a row and its folder of snapshots. The folder is kept when the sidecar ends. */
export class RowSidecar {
  readonly #open: OpenSidecar;
  readonly #directory: string;
  #sidecar: MeasuredSidecar;

  private constructor(open: OpenSidecar, directory: string, sidecar: MeasuredSidecar) {
    this.#open = open;
    this.#directory = directory;
    this.#sidecar = sidecar;
  }

  static async open(open: OpenSidecar, directory: string): Promise<RowSidecar> {
    return new RowSidecar(open, directory, await open(directory));
  }

  get sidecar(): MeasuredSidecar {
    return this.#sidecar;
  }

  /** Opens another sidecar with the same folder. The previous sidecar must have ended. */
  async reopen(): Promise<MeasuredSidecar> {
    this.#sidecar = await this.#open(this.#directory);
    return this.#sidecar;
  }

  close(): Promise<void> {
    return this.#sidecar.close();
  }
}

/** A runtime and the state that its runner must report. */
export interface PreparedRuntime {
  runtime: MeasuredRuntime;
  state: State;
}

/** Prepares runtimes one after the other. The preparation is not measured. */
export async function prepareRuntimes(
  sidecar: MeasuredSidecar,
  count: number,
  megabytes: number,
  options?: Partial<RuntimeOptions>,
): Promise<PreparedRuntime[]> {
  const prepared: PreparedRuntime[] = [];
  for (let index = 0; index < count; index++) prepared.push(await prepareRuntime(sidecar, megabytes, options));
  return prepared;
}

export async function prepareRuntime(
  sidecar: MeasuredSidecar,
  megabytes: number,
  options: Partial<RuntimeOptions> = {},
): Promise<PreparedRuntime> {
  const runtime = await sidecar.create({ runner: true, megabytes, ...options });
  const state = makeState(options.fileMegabytes === undefined ? 'buffers' : 'files');
  await evaluateRight(runtime, plantState(state));
  if (megabytes > 0) await evaluateRight(runtime, writeMegabytes(state, megabytes));
  return { runtime, state };
}

/** Checks the memory of every runtime that has not failed. */
export async function checkMemory(
  runtimes: readonly (MeasuredRuntime | undefined)[],
  stateOf: (index: number) => State | undefined,
  record: RoundRecord,
): Promise<void> {
  for (const [index, runtime] of runtimes.entries()) {
    const state = stateOf(index);
    if (!runtime || !state || state.megabytes === 0 || record.hasFailed(index)) continue;
    await evaluateRight(runtime, memoryQuestion(state)).catch((error) => record.fail(index, `memory: ${reason(error)}`));
  }
}

/** Disposes of all runtimes. A disposal that fails is a failure of its runtime. */
export async function disposeAll(runtimes: readonly (MeasuredRuntime | undefined)[], record: RoundRecord): Promise<void> {
  await Promise.all(
    runtimes.map((runtime, index) => runtime?.dispose().catch((error) => record.fail(index, `dispose: ${reason(error)}`))),
  );
}

/** Deletes all snapshots. A deletion that fails is a failure of its runtime. */
export async function deleteSnapshots(
  sidecar: MeasuredSidecar,
  snapshots: readonly (MeasuredSnapshot | undefined)[],
  record: RoundRecord,
): Promise<void> {
  for (const [index, snapshot] of snapshots.entries()) {
    if (snapshot) await sidecar.deleteSnapshot(snapshot).catch((error) => record.fail(index, `remove: ${reason(error)}`));
  }
}
