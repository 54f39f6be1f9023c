// The order of a pool run: half of the floors, tasks with and without a pool, calls at one moment, checkouts, the other half of the floors. Each row has a sidecar and a
// folder of its own. What fails is a row that is missing, with its reason.

import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withFloors } from '../floors/around.js';
import type { FloorDefinition } from '../floors/floor.js';
import { reason } from '../lifecycle/box.js';
import { ms, percentage } from '../report/format.js';
import { now } from '../stats/timer.js';
import { type AmortisedShape, measureAmortised, type Way } from './amortised.js';
import { CROWD_WAYS, measureCrowd } from './crowds.js';
import type { OpenPoolHost } from './host.js';
import { measureHygiene } from './hygiene.js';
import type { PoolPlan } from './plan.js';
import type { PoolMeasurements } from './report.js';
import type { Tallied } from './tally.js';

export interface PoolSetting {
  open: OpenPoolHost;
  plan: PoolPlan;
  scratch: string;
  budgetMs: number;
  floorSamples: number;
  floors?: readonly FloorDefinition[];
  say: (line: string) => void;
}

export async function measurePools(setting: PoolSetting): Promise<PoolMeasurements> {
  const { open, plan, floorSamples, say, floors: some } = setting;
  const found: Omit<PoolMeasurements, 'floors'> = { amortised: [], crowds: [], hygiene: undefined, skipped: [] };
  const end = now() + setting.budgetMs;
  const row = rowsOf(setting, end, found.skipped);
  const work = async () => {
    for (const shape of shapesOf(plan)) {
      const result = await row(nameOf(shape), (directory) => measureAmortised(open, directory, shape));
      if (result) found.amortised.push(result);
    }
    for (const way of CROWD_WAYS) {
      for (const at of plan.crowds) {
        const shape = { way, at, rounds: plan.rounds };
        const result = await row(`${way}, ${at} at once`, (directory) => measureCrowd(open, directory, shape));
        if (result) found.crowds.push(result);
      }
    }
    found.hygiene = await row('checkouts', (directory) => measureHygiene(open, directory, plan.checkouts));
  };
  const { floors } = await withFloors(floorSamples, say, work, some);
  return { floors, ...found };
}

function rowsOf({ scratch, say }: PoolSetting, end: number, skipped: PoolMeasurements['skipped']) {
  return async <T extends Tallied>(name: string, measure: (directory: string) => Promise<T>): Promise<T | undefined> => {
    const directory = mkdtempSync(join(scratch, 'row-'));
    try {
      if (now() >= end) throw new Error('no time left');
      const result = await measure(directory);
      say(`${name.padEnd(36)}  ${ms(result.eachMs?.p50)} ms, right ${percentage(result.successRate)}`);
      return result;
    } catch (error) {
      skipped.push({ row: name, reason: reason(error) });
      say(`${name.padEnd(36)}  ${reason(error)}`);
      return undefined;
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  };
}

/** One task at a time, and as many as there are slots. */
export function shapesOf({ uses, slots, tenants, tasks, slowTasks }: PoolPlan): AmortisedShape[] {
  const pooled: Way[] = ['pool', 'pool, shared uses'];
  return [1, slots].flatMap((width) => [
    ...pooled.flatMap((way) => uses.map((each) => ({ way, uses: each, width, tasks, slots, tenants }))),
    { way: 'from a snapshot' as const, width, tasks, slots, tenants },
    { way: 'created' as const, width, tasks, slots, tenants },
    { way: 'node -e' as const, width, tasks: slowTasks, slots, tenants },
  ]);
}

export const nameOf = ({ way, uses, width }: Pick<AmortisedShape, 'way' | 'uses' | 'width'>): string =>
  `${way}${uses === undefined ? '' : `, K = ${uses}`}, ${width} at a time`;
