// Tests the density benchmark with fake sidecars, whose runtimes work, are refused, reply wrongly
// or hang. The tests check counts, divisions and skipped rows.

import { expect, test } from 'vitest';
import { type DensityOptions, type DensityRun, type DensitySetup, density } from '../src/density/benchmark.js';
import { kneeOf, measureBurst } from '../src/density/bursts.js';
import { KIND_NAMES } from '../src/density/kinds.js';
import { type LiveResult, measureLive } from '../src/density/live.js';
import { type Footprint, readFootprint } from '../src/machine/footprint.js';
import { measureBenchmark } from '../src/suite/measure.js';
import { type Report, renderPage, tablesOf } from '../src/suite/report.js';
import type { Measured } from '../src/suite/run.js';
import { judgeTargets } from '../src/suite/targets.js';
import { measurementWarnings } from '../src/suite/warnings.js';
import { expectComparable } from './helpers/comparable.js';
import { silent } from './helpers/conditions.js';
import { FakeSidecars } from './helpers/fake-sidecars.js';
import { isWellNested } from './helpers/markup.js';
import { fakeReport } from './helpers/report.js';

/**
 * A sidecar with 100 KiB, 3 mappings and a descriptor for each runtime, and 50 KiB more after the
 * probe.
 */
function fakeFootprint(count: number): () => Footprint {
  const footprints = [0, 100 * count, 150 * count].map((kib, index) => ({
    memory: {
      privateDirtyKib: 1_000 + kib,
      privateCleanKib: 10,
      pageTablesKib: 100 + (index > 0 ? 4 * count : 0),
      pssKib: 500 + kib,
    },
    rssKib: 5_000,
    mappings: 70 + (index > 0 ? 3 * count : 0),
    descriptors: 9 + (index > 0 ? count : 0),
  }));
  return () => footprints.shift() ?? fakeFootprint(count)();
}

const shape = (kind: LiveResult['kind'], count: number) => ({ kind, count, width: 4, directory: '/', limitMs: 10_000 });

test.each(['idle', 'runner', 'clone'] as const)('%s: divides the difference of two footprints before the probe', async (kind) => {
  const sidecars = new FakeSidecars();
  const result = await measureLive(sidecars.open, { ...shape(kind, 20), footprint: fakeFootprint(20) });
  expect(result).toMatchObject({
    live: 20,
    privateKib: 104,
    pageTablesKib: 4,
    mappings: 3,
    descriptors: 1,
    privateKibAfterProbe: 154,
  });
  expect(result.outcomes).toEqual({ success: 20, partial: 0, readinessFailed: 0, refused: 0 });
  expect({ successRate: result.successRate, quarters: result.quarters.length }).toEqual({ successRate: 1, quarters: 4 });
  expect(sidecars.live).toBe(0);
});

test('counts every runtime as one of four outcomes', async () => {
  const before = (call: string, nth: number) => {
    const broken = (call === 'create' && nth === 10) || (call === 'evaluate' && (nth === 20 || nth === 30));
    if (broken) throw Object.assign(new Error(`${call} refused`), { code: 'ERR_BROKEN' });
  };
  const sidecars = new FakeSidecars({ before });
  const result = await measureLive(sidecars.open, { ...shape('runner', 20), footprint: fakeFootprint(20) });
  expect(result.outcomes).toEqual({ success: 17, partial: 1, readinessFailed: 1, refused: 1 });
  expect(result.failures).toEqual({
    'ERR_BROKEN: create refused': 1,
    'ERR_BROKEN: evaluate refused': 1,
    'probe: ERR_BROKEN: evaluate refused': 1,
  });
  expect({ live: result.live, successRate: result.successRate }).toEqual({ live: 18, successRate: 0.85 });
});

test('counts runtimes as refused for which no time was left', async () => {
  const sidecars = new FakeSidecars({
    before: (call) => (call === 'create' ? new Promise((resolve) => setTimeout(resolve, 5)) : undefined),
  });
  const result = await measureLive(sidecars.open, { ...shape('idle', 10_000), limitMs: 50, footprint: fakeFootprint(1) });
  expect(result.outcomes.refused).toBe(10_000 - result.live);
  expect(result.failures['no time left for the creation']).toBe(result.outcomes.refused);
});

test('counts the failures of a burst, and does not time them', async () => {
  const sidecars = new FakeSidecars({
    before: (call, nth) => (call === 'create' && nth === 9 ? Promise.reject(new Error('full')) : undefined),
  });
  const { rows } = await measureBurst(sidecars.open, { kind: 'runner', sizes: [2, 3], rounds: 3, directory: '/' });
  expect(rows.map(({ n, successRate, failures }) => ({ n, successRate, failures }))).toEqual([
    { n: 2, successRate: 1, failures: [] },
    { n: 3, successRate: 1, failures: [] },
  ]);
  const broken = new FakeSidecars({
    before: (call, nth) => (call === 'create' && nth === 5 ? Promise.reject(new Error('full')) : undefined),
  });
  const burst = await measureBurst(broken.open, { kind: 'runner', sizes: [3], rounds: 2, directory: '/' });
  expect(burst.rows[0]).toMatchObject({ successRate: 5 / 6, failures: ['full'], answerMs: { count: 5 } });
  expect({ left: sidecars.live + broken.live }).toEqual({ left: 0 });
});

test('returns the smallest burst near the best rate as the knee', () => {
  const rows = [100, 180, 200, 190].map((perSecond, index) => ({ n: 4 * (index + 1), perSecond }));
  expect(kneeOf(rows)).toBe(8);
  expect(kneeOf([])).toBeUndefined();
  expect(kneeOf([{ n: 4, perSecond: 0 }])).toBeUndefined();
});

const OPTIONS: DensityOptions = {
  kinds: KIND_NAMES,
  counts: [1, 1_000, 10_000],
  hold: 1_000,
  budgetSeconds: 60,
  quick: true,
};

/** Measures rows as on a machine where each runtime takes `kib` KiB of memory. */
async function run(kib: number, change: Partial<DensityOptions> = {}, availableKib = 1e9): Promise<Measured<DensityRun>> {
  const options = { ...OPTIONS, ...change };
  const sidecars = new FakeSidecars();
  const measure: typeof measureLive = async (_open, { kind, count, width }) => ({
    ...(await measureLive(sidecars.open, { ...shape(kind, 4), footprint: fakeFootprint(4) })),
    count,
    width,
    live: count,
    privateKib: kib,
    outcomes: { success: count, partial: 0, readinessFailed: 0, refused: 0 },
  });
  const { setup } = await density.open(options, { scratch: '/', cores: 2 });
  const faked: DensitySetup = { ...setup, open: sidecars.open, measure, availableKib: () => availableKib };
  return measureBenchmark(density, options, { ...faked, bursts: [2], burstRounds: 1 }, silent);
}

const judge = (found: Measured<DensityRun>) => judgeTargets(density, found);
const warningsOf = (found: Measured<DensityRun>) => measurementWarnings(density, found, 0.00006);

test('judges targets as met or missed, and as unmeasured where a runtime failed', async () => {
  const found = await run(250);
  expect(new Set(judge(found).map(({ verdict }) => verdict))).toEqual(new Set(['met']));
  expect(judge(await run(301)).filter(({ verdict }) => verdict === 'missed')).toHaveLength(4);
  const breakOne = (kind: string, why: string, outcomes: object) => {
    const row = found.rows.find((each) => each.kind === kind && each.count === 10_000);
    if (row)
      Object.assign(row, {
        successRate: 0.9999,
        outcomes: { ...row.outcomes, success: 9_999, ...outcomes },
        failures: { [why]: 1 },
      });
    return Object.fromEntries(judge(found).map(({ id, verdict }) => [id, verdict]));
  };
  const refused = { refused: 1 };
  expect(breakOne('clone', 'ERR_RESOURCE_EXHAUSTED: no more memory mappings', refused)).toMatchObject({ D5: 'met', D6: 'met' });
  expect(breakOne('clone', 'ERR_SIDECAR_EXITED: gone', refused)).toMatchObject({ D5: 'met', D6: 'missed' });
  expect(breakOne('runner', 'ERR_RESOURCE_EXHAUSTED: no more memory mappings', refused)).toMatchObject({
    D3: 'met',
    D4: 'unmeasured',
    D5: 'missed',
  });
  expect(warningsOf(found)).toEqual([
    'runner, 10000: 1 of 10000 failed: ERR_RESOURCE_EXHAUSTED: no more memory mappings',
    'clone, 10000: 1 of 10000 failed: ERR_SIDECAR_EXITED: gone',
  ]);
});

test('skips a count that exceeds the memory of the machine, with the reason', async () => {
  const found = await run(250, { kinds: ['runner'] }, 1_000_000);
  expect(found.rows.map(({ count }) => count)).toEqual([1, 1_000]);
  expect(found.skipped).toEqual([{ kind: 'runner', count: 10_000, reason: 'the row needs 2441 MiB, and 781 MiB are allowed' }]);
});

test('shows tables and a page', async () => {
  const found = await run(250);
  const { startedAt, durationMs, hardware, timer } = fakeReport();
  const head = { schema: density.schema, startedAt, durationMs, hardware, timer, options: OPTIONS };
  const report: Report<DensityRun> = { ...head, targets: judge(found), warnings: warningsOf(found), ...found };
  expect(expectComparable(report)).toContain('runner 1000, private KiB each');
  const tables = tablesOf(density, report);
  for (const table of tables) for (const row of table.rows) expect(row).toHaveLength(table.head.length);
  const peers = tables.find(({ title }) => title.startsWith('Published'))?.rows ?? [];
  expect(peers.find(([system]) => system === 'Coppice')).toEqual([
    'Coppice',
    'micro-VM',
    '1000',
    '9216',
    '250',
    '250',
    '250',
    '256 MiB guests, measured',
  ]);
  const page = renderPage(density, report);
  expect(page).not.toMatch(/(src|href)=|@import|url\(|<script|NaN|Infinity|undefined/);
  expect(page.match(/<svg /g)).toHaveLength(3);
  expect(isWellNested(page)).toBe(true);
  expect(renderPage(density, { ...report, rows: [], holds: [], bursts: [] })).not.toMatch(/NaN|Infinity/);
});

test('reads the footprint of this process', () => {
  const { mappings, descriptors, rssKib, memory } = readFootprint(process.pid);
  expect(mappings).toBeGreaterThan(20);
  expect(descriptors).toBeGreaterThan(2);
  expect(rssKib).toBeGreaterThan(memory.privateDirtyKib / 2);
});
