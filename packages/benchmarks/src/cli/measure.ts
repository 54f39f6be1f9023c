// The order of a whole cold-start run: half of the floors, the matrix, throughput, density, the binary, the other half of the floors.
//
// The matrix gets what the rest is expected to leave of the budget. Extras that fail are recorded with their reason.

import type { Knobs } from '../config/knobs.js';
import { measureBinary } from '../extras/binary-size.js';
import { measureDensity } from '../extras/density.js';
import { densityHosts } from '../extras/density-hosts.js';
import { startKinds } from '../extras/start-hosts.js';
import { measureStarts } from '../extras/starts.js';
import { measureThroughput, THROUGHPUT } from '../extras/throughput.js';
import { withFloors } from '../floors/around.js';
import { Budget } from '../matrix/budget.js';
import { runMatrix } from '../matrix/matrix.js';
import { planRows } from '../matrix/plan.js';
import type { Extra, Measurements } from '../report/report.js';
import { adapters } from '../scenarios/index.js';
import { now } from '../stats/timer.js';
import { matrixProgress, type Say } from './progress.js';

/** For throughput, other starts, density and the binary. */
const EXTRAS_RESERVE_MS = 15_000;
const STARTS_OF_A_KIND = 100;

export async function measureAll(knobs: Knobs, cores: number, say: Say): Promise<Measurements> {
  const startedAt = now();
  const { floors, result } = await withFloors(knobs.floorSamples, say, () => measureRest(knobs, cores, say, now() - startedAt));
  return { floors, ...result };
}

async function measureRest(knobs: Knobs, cores: number, say: Say, floorsMs: number): Promise<Omit<Measurements, 'floors'>> {
  const rows = planRows(knobs);
  const matrixMs = Math.max(0, knobs.budgetSeconds * 1000 - 2 * floorsMs - EXTRAS_RESERVE_MS);
  const budget = new Budget(matrixMs, (row) => adapters[row.scenario].costGuessMs);
  const matrix = await runMatrix(rows, adapters, budget, cores, matrixProgress(rows.length, say));
  say('throughput, other starts, density, binary');
  const throughput = await attempt('throughput', () => measureThroughput(adapters['shared-sidecar'], THROUGHPUT));
  const starts: Measurements['starts'] = [];
  for (const kind of startKinds) {
    starts.push(await attempt(`starts: ${kind.name}`, () => measureStarts(kind, STARTS_OF_A_KIND)));
  }
  const density: Measurements['density'] = [];
  for (const [kind, open] of knobs.density === 0 ? [] : Object.entries(densityHosts)) {
    density.push(await attempt(`density of ${kind}`, () => measureDensity(kind, knobs.density, open)));
  }
  const sidecarBinary = await attempt('sidecar binary', measureBinary);
  return { ...matrix, throughput, starts, density, sidecarBinary };
}

async function attempt<T>(what: string, measure: () => Promise<T>): Promise<Extra<T>> {
  try {
    return await measure();
  } catch (error) {
    return { error: `${what}: ${String(error)}` };
  }
}
