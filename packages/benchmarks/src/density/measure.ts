// The order of a density run: half of the floors, each kind from few to many, all at once, bursts, the other half of the floors.
//
// Every count has a sidecar of its own, so that the cost of 10,000 is not mixed with what was left of 1,000. A count that would not fit into the machine's
// memory, by what the last one of its kind took, is skipped with that reason.

import { readFileSync } from 'node:fs';
import { withFloors } from '../floors/around.js';
import type { FloorDefinition } from '../floors/floor.js';
import { type OpenHost, reason } from '../lifecycle/box.js';
import { ms, percentage, seconds } from '../report/format.js';
import { now } from '../stats/timer.js';
import { measureBurst } from './burst.js';
import type { KindName } from './kinds.js';
import { measureLive } from './live.js';
import type { DensityPlan } from './plan.js';
import type { DensityMeasurements } from './report.js';
import type { LiveResult } from './result.js';

export interface DensitySetting {
  open: OpenHost;
  plan: DensityPlan;
  scratch: string;
  budgetMs: number;
  floorSamples: number;
  floors?: readonly FloorDefinition[];
  say: (line: string) => void;
  measure?: typeof measureLive;
  availableKib?: () => number;
}

type Found = Omit<DensityMeasurements, 'floors'>;

/** Of the memory that is available, what a row may take. */
const SHARE = 0.8;
const LIMIT_MS = 60_000;
const STEP = 2_000;

export async function measureDensities(setting: DensitySetting): Promise<DensityMeasurements> {
  const found: Found = { rows: [], holds: [], bursts: [], skipped: [] };
  const end = now() + setting.budgetMs;
  const work = async () => {
    const { kinds, counts, hold } = setting.plan;
    for (const kind of kinds)
      for (const count of counts) await row(setting, kind, count, setting.plan.width, end, found, found.rows);
    for (const kind of kinds) if (hold > 0) await row(setting, kind, hold, hold, end, found, found.holds);
    for (const kind of kinds) await burst(setting, kind, end, found);
  };
  const { floors } = await withFloors(setting.floorSamples, setting.say, work, setting.floors);
  return { floors, ...found };
}

async function row(
  setting: DensitySetting,
  kind: KindName,
  count: number,
  width: number,
  end: number,
  found: Found,
  into: LiveResult[],
): Promise<void> {
  const { open, scratch, say, measure = measureLive } = setting;
  const name = `${kind.padEnd(6)} ${String(count).padStart(6)}${width === count && count > 1 ? ' at once' : ''}`;
  const why = whyNot(setting, kind, count, end, found.rows);
  if (why !== undefined) {
    found.skipped.push({ kind, count, reason: why });
    say(`${name}  skipped: ${why}`);
    return;
  }
  const progress = (done: number) => {
    if (done % STEP === 0 && done < count) say(`${name}  ${done} made`);
  };
  try {
    const limitMs = Math.min(LIMIT_MS, Math.max(1_000, end - now()));
    const result = await measure(open, { kind, count, width, directory: scratch, limitMs, progress });
    into.push(result);
    say(`${name}  ${describe(result)}; ${seconds(Math.max(0, end - now()))} left`);
  } catch (error) {
    found.skipped.push({ kind, count, reason: reason(error) });
    say(`${name}  failed: ${reason(error)}`);
  }
}

function whyNot(
  { availableKib = memAvailableKib }: DensitySetting,
  kind: KindName,
  count: number,
  end: number,
  rows: readonly LiveResult[],
) {
  if (now() >= end) return 'no time left';
  const last = rows.filter((each) => each.kind === kind && each.live >= 100).at(-1);
  const [needKib, haveKib] = [count * (last?.privateKib ?? 0), availableKib() * SHARE];
  if (needKib <= haveKib) return undefined;
  return `it would take ${Math.round(needKib / 1024)} MiB, and ${Math.round(haveKib / 1024)} may be taken`;
}

const memAvailableKib = (): number => Number(/^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0);

const describe = ({ live, privateKib, mappings, createMs, successRate, failures }: LiveResult): string =>
  [
    `${live} live, ${privateKib.toFixed(1)} KiB and ${mappings.toFixed(1)} mappings each, made in ${ms(createMs?.p50)} ms, right ${percentage(successRate)}`,
    ...Object.keys(failures).slice(0, 1),
  ].join('; ');

async function burst({ open, plan, scratch, say }: DensitySetting, kind: KindName, end: number, found: Found): Promise<void> {
  if (now() >= end) {
    found.skipped.push({ kind, count: Math.max(...plan.bursts), reason: 'bursts: no time left' });
    return;
  }
  try {
    const result = await measureBurst(open, { kind, sizes: plan.bursts, rounds: plan.burstRounds, directory: scratch });
    found.bursts.push(result);
    say(`${kind.padEnd(6)} bursts of ${plan.bursts.join(', ')}: the rate rises up to ${result.knee ?? '–'}`);
  } catch (error) {
    found.skipped.push({ kind, count: Math.max(...plan.bursts), reason: `bursts: ${reason(error)}` });
  }
}
