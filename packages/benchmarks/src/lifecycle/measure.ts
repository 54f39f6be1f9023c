// The order of a lifecycle run: half of the floors, the rows within their time, the soak, the other half of the floors.

import { type Floors, withFloors } from '../floors/around.js';
import type { FloorDefinition } from '../floors/floor.js';
import { ms, percentage, seconds } from '../report/format.js';
import { now } from '../stats/timer.js';
import { type OpenHost, reason } from './box.js';
import type { Operation } from './operation.js';
import { type OperationName, type RowPlan, variantOf } from './plan.js';
import type { LifecycleMeasurements } from './report.js';
import type { LifecycleRow } from './result.js';
import { runRow } from './row.js';
import { measureSoak } from './soak.js';

export interface LifecycleSetting {
  open: OpenHost;
  operations: Readonly<Record<OperationName, Operation>>;
  plan: readonly RowPlan[];
  soak: number;
  scratch: string;
  budgetMs: number;
  settleMs: number;
  floorSamples: number;
  floors?: readonly FloorDefinition[];
  cores: number;
  say: (line: string) => void;
}

const SHORT_ROW_MS = 6_000;
const SOAK_WIDTH = 4;
const SOAK_STEP = 5_000;

export async function measureLifecycle(setting: LifecycleSetting): Promise<LifecycleMeasurements> {
  const { say, floorSamples } = setting;
  const measured: Omit<LifecycleMeasurements, 'floors'> = { rows: [], skipped: [] };
  const work = async () => {
    await runRows(setting, measured);
    if (setting.soak > 0) measured.soak = await soak(setting);
  };
  const { floors }: { floors: Floors } = await withFloors(floorSamples, say, work, setting.floors);
  return { floors, ...measured };
}

async function runRows(setting: LifecycleSetting, into: Omit<LifecycleMeasurements, 'floors'>): Promise<void> {
  const { plan, operations, say } = setting;
  const end = now() + setting.budgetMs;
  for (const [index, row] of plan.entries()) {
    const { operation, n } = row;
    const leftMs = end - now();
    const place = `[${String(index + 1).padStart(2)}/${plan.length}] ETA ${seconds(Math.min(cost(plan.slice(index)), leftMs)).padStart(10)}`;
    const name = `${operation.padEnd(8)} ${variantOf(row).padEnd(14)} ${String(n).padStart(3)}`;
    if (leftMs <= 0) {
      into.skipped.push({ operation, variant: variantOf(row), n, reason: 'no time left' });
      say(`${place}  ${name}  skipped: no time left`);
      continue;
    }
    try {
      const share = (leftMs * cost([row])) / cost(plan.slice(index));
      // A guess of milliseconds is wrong by more than one of seconds: short rows may take what the long ones will hardly miss.
      const budgetMs = Math.max(share, Math.min(SHORT_ROW_MS, leftMs / 4));
      const result = await runRow(row, { ...setting, operation: operations[operation], budgetMs });
      into.rows.push(result);
      say(`${place}  ${name}  ${describe(result)}`);
    } catch (error) {
      into.skipped.push({ operation, variant: variantOf(row), n, reason: reason(error) });
      say(`${place}  ${name}  skipped: ${reason(error)}`);
    }
  }
}

const cost = (rows: readonly RowPlan[]): number =>
  rows.reduce((sum, { guessMs, rounds, warmup }) => sum + 100 + guessMs * (rounds + warmup), 0);

function describe({ measures, rounds, runs, notes }: LifecycleRow): string {
  const figures = Object.entries(measures).map(([name, { wall }]) => `${name} ${ms(wall?.p50)}`);
  return [`× ${rounds}: ${figures.join(', ')} ms, right ${percentage(runs.successRate)}`, ...notes].join('; ');
}

async function soak({ open, soak: cycles, scratch: directory, say }: LifecycleSetting) {
  say(`soak: ${cycles} cycles`);
  const progress = (done: number) => {
    if (done % SOAK_STEP === 0) say(`soak: ${done} of ${cycles}`);
  };
  try {
    return await measureSoak(open, { cycles, width: SOAK_WIDTH, directory, progress });
  } catch (error) {
    return { error: `soak: ${reason(error)}` };
  }
}
