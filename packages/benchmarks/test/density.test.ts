// Density on boxes that live, refuse, forget and fall silent: what is counted, what is divided, and what is skipped.

import { expect, test } from 'vitest';
import { kneeOf, measureBurst } from '../src/density/burst.js';
import { measureLive } from '../src/density/live.js';
import { measureDensities } from '../src/density/measure.js';
import { renderDensity } from '../src/density/page.js';
import { type DensityPlan, ORDINARY } from '../src/density/plan.js';
import { type DensityReport, SCHEMA } from '../src/density/report.js';
import type { LiveResult } from '../src/density/result.js';
import { densityTables } from '../src/density/tables.js';
import { judgeDensity } from '../src/density/targets.js';
import { densityWarnings } from '../src/density/warnings.js';
import type { Census } from '../src/machine/census.js';
import { takeCensus } from '../src/machine/census.js';
import { expectComparable } from './helpers/compared.js';
import { FakeWorld } from './helpers/fake-host.js';
import { isWellNested } from './helpers/markup.js';
import { fakeReport } from './helpers/report.js';

/** A sidecar that takes 100 KiB, 3 mappings and a descriptor for each, and 50 KiB more when it is asked again. */
function fakeCensus(count: number): () => Census {
  const looks = [0, 100 * count, 150 * count].map((kib, index) => ({
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
  return () => looks.shift() ?? fakeCensus(count)();
}

const shape = (kind: LiveResult['kind'], count: number) => ({ kind, count, width: 4, directory: '/', limitMs: 10_000 });

test.each(['idle', 'runner', 'clone'] as const)(
  '%s: the difference of two looks, divided, before anything is asked again',
  async (kind) => {
    const world = new FakeWorld();
    const result = await measureLive(world.open, { ...shape(kind, 20), census: fakeCensus(20) });
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
    expect(world.live).toBe(0);
  },
);

test('every one ends as one of four', async () => {
  const before = (call: string, nth: number) => {
    const broken = (call === 'create' && nth === 10) || (call === 'ask' && (nth === 20 || nth === 30));
    if (broken) throw Object.assign(new Error(`${call} refused`), { code: 'ERR_BROKEN' });
  };
  const world = new FakeWorld({ before });
  const result = await measureLive(world.open, { ...shape('runner', 20), census: fakeCensus(20) });
  expect(result.outcomes).toEqual({ success: 17, partial: 1, readinessFailed: 1, refused: 1 });
  expect(result.failures).toEqual({
    'ERR_BROKEN: create refused': 1,
    'ERR_BROKEN: ask refused': 1,
    'asked again: ERR_BROKEN: ask refused': 1,
  });
  expect({ live: result.live, successRate: result.successRate }).toEqual({ live: 18, successRate: 0.85 });
});

test('time that runs out counts those that were not made as refused', async () => {
  const world = new FakeWorld({
    before: (call) => (call === 'create' ? new Promise((resolve) => setTimeout(resolve, 5)) : undefined),
  });
  const result = await measureLive(world.open, { ...shape('idle', 10_000), limitMs: 50, census: fakeCensus(1) });
  expect(result.outcomes.refused).toBe(10_000 - result.live);
  expect(result.failures['no time left to make it']).toBe(result.outcomes.refused);
});

test('a burst: rates, and failures that are neither dropped nor timed', async () => {
  const world = new FakeWorld({
    before: (call, nth) => (call === 'create' && nth === 9 ? Promise.reject(new Error('full')) : undefined),
  });
  const { rows } = await measureBurst(world.open, { kind: 'runner', sizes: [2, 3], rounds: 3, directory: '/' });
  expect(rows.map(({ n, successRate, failures }) => ({ n, successRate, failures }))).toEqual([
    { n: 2, successRate: 1, failures: [] },
    { n: 3, successRate: 1, failures: [] },
  ]);
  const broken = new FakeWorld({
    before: (call, nth) => (call === 'create' && nth === 5 ? Promise.reject(new Error('full')) : undefined),
  });
  const burst = await measureBurst(broken.open, { kind: 'runner', sizes: [3], rounds: 2, directory: '/' });
  expect(burst.rows[0]).toMatchObject({ successRate: 5 / 6, failures: ['full'], answerMs: { count: 5 } });
  expect({ left: world.live + broken.live }).toEqual({ left: 0 });
});

test('the knee is where the rate has come near to its best', () => {
  const rows = [100, 180, 200, 190].map((perSecond, index) => ({ n: 4 * (index + 1), perSecond }));
  expect(kneeOf(rows)).toBe(8);
  expect(kneeOf([])).toBeUndefined();
  expect(kneeOf([{ n: 4, perSecond: 0 }])).toBeUndefined();
});

const PLAN: DensityPlan = { ...ORDINARY, counts: [1, 1_000, 10_000], bursts: [2], burstRounds: 1 };

/** Rows as a machine of `kib` each would give. */
function run(kib: number, plan: DensityPlan = PLAN, availableKib = 1e9) {
  const world = new FakeWorld();
  const measure: typeof measureLive = async (_open, { kind, count, width }) => ({
    ...(await measureLive(world.open, { ...shape(kind, 4), census: fakeCensus(4) })),
    count,
    width,
    live: count,
    privateKib: kib,
    outcomes: { success: count, partial: 0, readinessFailed: 0, refused: 0 },
  });
  const setting = { open: world.open, plan, scratch: '/', floorSamples: 0, floors: [], say: () => {}, measure };
  return measureDensities({ ...setting, budgetMs: 60_000, availableKib: () => availableKib });
}

test('targets: met, missed, and unmeasured where one failed', async () => {
  const found = await run(250);
  expect(new Set(judgeDensity(found).map(({ verdict }) => verdict))).toEqual(new Set(['met']));
  expect(judgeDensity(await run(301)).filter(({ verdict }) => verdict === 'missed')).toHaveLength(4);
  const breakOne = (kind: string, why: string, outcomes: object) => {
    const row = found.rows.find((each) => each.kind === kind && each.count === 10_000);
    if (row)
      Object.assign(row, {
        successRate: 0.9999,
        outcomes: { ...row.outcomes, success: 9_999, ...outcomes },
        failures: { [why]: 1 },
      });
    return Object.fromEntries(judgeDensity(found).map(({ id, verdict }) => [id, verdict]));
  };
  const refused = { refused: 1 };
  expect(breakOne('clone', 'ERR_RESOURCE_EXHAUSTED: no more memory mappings', refused)).toMatchObject({ D5: 'met', D6: 'met' });
  expect(breakOne('clone', 'ERR_SIDECAR_EXITED: gone', refused)).toMatchObject({ D5: 'met', D6: 'missed' });
  expect(breakOne('runner', 'ERR_RESOURCE_EXHAUSTED: no more memory mappings', refused)).toMatchObject({
    D3: 'met',
    D4: 'unmeasured',
    D5: 'missed',
  });
  expect(densityWarnings(found)).toEqual([
    'runner, 10000: 1 of 10000 failed: ERR_RESOURCE_EXHAUSTED: no more memory mappings',
    'clone, 10000: 1 of 10000 failed: ERR_SIDECAR_EXITED: gone',
  ]);
});

test('what would not fit into the memory of the machine is skipped with the reason', async () => {
  const found = await run(250, { ...PLAN, kinds: ['runner'] }, 1_000_000);
  expect(found.rows.map(({ count }) => count)).toEqual([1, 1_000]);
  expect(found.skipped).toEqual([{ kind: 'runner', count: 10_000, reason: 'it would take 2441 MiB, and 781 may be taken' }]);
});

test('tables and page', async () => {
  const found = await run(250);
  const { startedAt, durationMs, hardware, timer } = fakeReport();
  const head = {
    schema: SCHEMA,
    startedAt,
    durationMs,
    hardware,
    timer,
    packages: 'zod',
    system: { maxMapCount: 65_530 },
  } as const;
  const report: DensityReport = { ...head, plan: PLAN, targets: judgeDensity(found), warnings: densityWarnings(found), ...found };
  expect(expectComparable(report)).toContain('runner 1000, private KiB each');
  const tables = densityTables(report);
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
  const page = renderDensity(report);
  expect(page).not.toMatch(/(src|href)=|@import|url\(|<script|NaN|Infinity|undefined/);
  expect(page.match(/<svg /g)).toHaveLength(3);
  expect(isWellNested(page)).toBe(true);
  expect(renderDensity({ ...report, rows: [], holds: [], bursts: [] })).not.toMatch(/NaN|Infinity/);
});

test('a census of this process', () => {
  const { mappings, descriptors, rssKib, memory } = takeCensus(process.pid);
  expect(mappings).toBeGreaterThan(20);
  expect(descriptors).toBeGreaterThan(2);
  expect(rssKib).toBeGreaterThan(memory.privateDirtyKib / 2);
});
