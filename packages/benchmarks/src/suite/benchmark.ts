// Declares the type of a benchmark: the measurements and the output of one command `pnpm
// bench:NAME`.
//
// A benchmark is a list of sections. A section has rows whose results have one shape, one field in
// the JSON, and one place in the tables and on the page. A row is measured once in a run. All
// benchmarks use this folder: `options.ts` reads the command line, `measure.ts` runs the rows, and
// `targets.ts` compares a run with the benchmark's targets. `command.ts` connects these modules.

import type { Observed } from '../machine/observe.js';
import type { Chart } from '../page/document.js';
import type { Statistics } from '../statistics/statistics.js';
import type { OptionTable } from './options.js';
import type { Measured, RecordedFailure, Skipped } from './run.js';
import type { Table } from './table.js';
import type { Target } from './targets.js';

/** The time that a row may take. */
export interface Allowance {
  /** The row's share of the time that is left. `Infinity` for a row outside the budget. */
  budgetMs: number;
  /** The time that is left for all rows. */
  leftMs: number;
  /** Writes a line of progress while the row is measured. */
  progress(text: string): void;
}

/** One measurement: the unit that is planned, timed, skipped, and shown as a line of progress. */
export interface Row<Result> {
  readonly name: string;
  /** Identifies the row in `skipped`, with the field names that its result would have. */
  readonly key: Skipped;
  /**
   * A guess of the row's duration, used only to divide the budget among rows. A row without a guess
   * is not part of the budget and is measured even if no time is left.
   */
  readonly guessMs?: number;
  measure(allowance: Allowance): Promise<Result>;
}

/** The rows of a section, and the release of their shared resources. */
export interface OpenSection<Result> {
  rows: readonly Row<Result>[];
  close?(): Promise<void>;
}

/** The number of right runs. A benchmark is complete when every run of every result was right. */
export interface Outcome {
  name: string;
  total: number;
  right: number;
  /** The first failure. */
  failure?: string | undefined;
  /** Remarks on the figures, such as a row with fewer rounds than planned. */
  notes?: readonly string[];
  /** Whether the benchmark counts as complete although runs failed. */
  isAccepted?: boolean;
}

/** A named figure for `bench:compare`. The statistics are `null` when every run failed. */
export interface Figure {
  name: string;
  statistics: Statistics | null | undefined;
  /** Whether the figure belongs to the machine and not to Coldframe. */
  isFloor?: boolean;
}

/** The shape of one result: the items of a list, or the single result of a section. */
export type ResultIn<Value> = Exclude<Value extends readonly (infer Item)[] ? Item : Value, RecordedFailure | null | undefined>;

export interface Section<Setup, Run, Field extends keyof Run & string, Result = ResultIn<Run[Field]>> {
  /** The field of the JSON. Several sections can share a field that is a list. */
  readonly field: Field;
  /** Set if the JSON has one result instead of a list. The field is `null` if no result exists. */
  readonly isSingle?: true;
  /**
   * Set when a failed row is recorded in the place of its result, as `{ error }`. Otherwise the row
   * is skipped.
   */
  readonly recordsFailures?: true;
  open(setup: Setup): OpenSection<Result> | Promise<OpenSection<Result>>;
  /** Returns the text of a progress line. */
  describe(result: Result): string;
  outcomes(result: Result): readonly Outcome[];
  figures?(result: Result): readonly Figure[];
  readonly targets?: readonly Target<Run>[];
  tables?(run: Measured<Run>): readonly Table[];
  charts?(run: Measured<Run>): readonly Chart[];
}

/** A section, for code that is independent of the shape of its results. */
export type AnySection<Setup, Run> = Section<Setup, Run, keyof Run & string, unknown>;

/** Folders and facts that the command passes to a benchmark. */
export interface Environment {
  /** A temporary folder that is removed after the run. */
  scratch: string;
  cores: number;
}

export interface Opened<Setup> {
  setup: Setup;
  close?(): Promise<void>;
}

export interface Benchmark<Options, Setup, Run> {
  /** The NAME of `pnpm bench:NAME`. */
  readonly name: string;
  /** The `schema` field of the JSON: name and version. */
  readonly schema: string;
  /** The heading of the page. */
  readonly heading: string;
  /** The text under the usage line of `--help`. */
  readonly summary: string;
  readonly options: OptionTable<Omit<Options, 'quick'>>;
  /** Set when the benchmark has a `--quick` form. `Options` then has the field `quick`. */
  readonly hasQuickForm?: true;
  /**
   * Returns the number of samples of each floor. 0 means that the benchmark measures no floors.
   */
  floorSamples(options: Options): number;
  /**
   * Returns the milliseconds for the rows of the budget. `floorsMs` is the duration of the first
   * half of the floors.
   */
  budgetMs?(options: Options, floorsMs: number): number;
  /**
   * The least share of a row in milliseconds, so that a fast row gets enough rounds even if slow
   * rows follow.
   */
  readonly leastShareMs?: number;
  /** The reason that is recorded for a row that is skipped for lack of time. */
  readonly outOfTime?: string;
  open(options: Options, environment: Environment): Opened<Setup> | Promise<Opened<Setup>>;
  /** Returns the folder for temporary files. @default the system's folder */
  scratchIn?(options: Options): string | undefined;
  /** Returns additional facts for the head of the JSON. */
  facts?(run: Measured<Run>, environment: Environment): object;
  readonly sections: readonly AnySection<Setup, Run>[];
  /** Targets that need more than one section. */
  readonly targets?: readonly Target<Run>[];
  /** Tables that need more than one section. These tables follow the tables of the sections. */
  tables?(run: Measured<Run>): readonly Table[];
  /** Writes further outputs of a run, such as a baseline, after the JSON and the page. */
  afterRun?(run: Measured<Run>, options: Options, head: Observed): void;
  /** Returns further reasons to doubt the run. */
  warnings?(run: Measured<Run>, resolutionMs: number): readonly string[];
  /**
   * Names a skipped row in a warning. Rows with equal names and reasons share one warning.
   * @default the field `row` of the key
   */
  nameSkipped?(key: Skipped): string;
}

/** A benchmark, for code that is independent of its options, setup and results. */
export type AnyBenchmark = Benchmark<Record<string, unknown>, unknown, Record<string, unknown>>;
