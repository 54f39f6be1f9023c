// Measures a benchmark: the first half of the floors, the rows of each section in order, and the
// second half of the floors.
//
// A row that fails, or for which no time is left, does not end the run. The row is skipped, or
// recorded with the reason, so that a failure does not prevent the figures of other rows.

import { type FloorDefinition, withFloors } from '../floors/floor.js';
import { now } from '../statistics/timer.js';
import type { Allowance, AnySection, Benchmark, OpenSection, Row } from './benchmark.js';
import { Budget } from './budget.js';
import { RowSkipped, rowFailure } from './failures.js';
import type { Progress } from './progress.js';
import type { Measured, Skipped } from './run.js';

export interface Conditions {
  floors: readonly FloorDefinition[];
  progress: Progress;
}

/** Measures all rows with an opened setup. */
export async function measureBenchmark<Options, Setup, Run>(
  benchmark: Benchmark<Options, Setup, Run>,
  options: Options,
  setup: Setup,
  { floors: definitions, progress }: Conditions,
): Promise<Measured<Run>> {
  const begunAt = now();
  const work = () => {
    const budget = new Budget(benchmark.budgetMs?.(options, now() - begunAt) ?? Number.POSITIVE_INFINITY, benchmark.leastShareMs);
    return new Measurement(benchmark, budget, progress).measure(setup);
  };
  const samples = benchmark.floorSamples(options);
  if (samples === 0) return work();
  const { floors, result } = await withFloors(definitions, samples, progress.write, work);
  return { ...result, floors };
}

/** The results that a run has collected so far. */
class Measurement<Setup, Run> {
  readonly #benchmark: Pick<Benchmark<never, Setup, Run>, 'sections' | 'outOfTime'>;
  readonly #budget: Budget;
  readonly #progress: Progress;
  readonly #results: Record<string, unknown>;
  readonly #skipped: (Skipped & { reason: string })[] = [];

  constructor(benchmark: Pick<Benchmark<never, Setup, Run>, 'sections' | 'outOfTime'>, budget: Budget, progress: Progress) {
    this.#benchmark = benchmark;
    this.#budget = budget;
    this.#progress = progress;
    this.#results = Object.fromEntries(benchmark.sections.map(({ field, isSingle }) => [field, isSingle ? null : []]));
  }

  async measure(setup: Setup): Promise<Measured<Run>> {
    for (const section of this.#benchmark.sections) await this.#measureSection(section, setup);
    // Each section stores results of the type that its field has in `Run`.
    return { ...this.#results, floors: {}, skipped: this.#skipped } as unknown as Measured<Run>;
  }

  async #measureSection(section: AnySection<Setup, Run>, setup: Setup): Promise<void> {
    let opened: OpenSection<unknown> = { rows: [] };
    try {
      opened = await section.open(setup);
      for (const [index, row] of opened.rows.entries()) await this.#measureRow(section, row, opened.rows.slice(index), opened);
    } catch (error) {
      this.#skipped.push({ row: section.field, reason: rowFailure(error) });
      this.#progress.write(`${section.field}  skipped: ${rowFailure(error)}`);
    } finally {
      await opened.close?.();
    }
  }

  async #measureRow(
    section: AnySection<Setup, Run>,
    row: Row<unknown>,
    left: readonly Row<unknown>[],
    { rows }: OpenSection<unknown>,
  ) {
    const weighted = left.flatMap(({ guessMs }) => (guessMs === undefined ? [] : [{ guessMs }]));
    const inBudget = row.guessMs !== undefined;
    const place = {
      name: row.name,
      index: rows.length - left.length,
      count: rows.length,
      nameWidth: Math.max(...rows.map(({ name }) => name.length)),
      ...(inBudget && { etaMs: this.#budget.expectedMs(weighted) }),
    };
    const allowance: Allowance = {
      budgetMs: inBudget ? this.#budget.shareOfFirst(weighted) : Number.POSITIVE_INFINITY,
      leftMs: this.#budget.leftMs,
      progress: (text) => this.#progress.row(place, text),
    };
    try {
      if (inBudget && allowance.leftMs === 0) throw new RowSkipped(this.#benchmark.outOfTime ?? 'no time left');
      const result = await row.measure(allowance);
      this.#store(section, result);
      this.#progress.row(place, section.describe(result));
    } catch (error) {
      const failure = rowFailure(error);
      if (section.recordsFailures) this.#store(section, { error: `${row.name}: ${failure}` });
      else this.#skipped.push({ ...row.key, reason: failure });
      this.#progress.row(place, `${section.recordsFailures ? 'failed' : 'skipped'}: ${failure}`);
    }
  }

  #store({ field, isSingle }: AnySection<Setup, Run>, result: unknown): void {
    const list = this.#results[field];
    if (isSingle || !Array.isArray(list)) this.#results[field] = result;
    else list.push(result);
  }
}
