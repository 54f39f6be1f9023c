// Makes a whole cold-start report from computed samples, for tests of the code that reads reports.

import { type ColdstartRun, coldstart } from '../../src/coldstart/benchmark.js';
import { coldstartOptions } from '../../src/coldstart/options.js';
import type { Mode } from '../../src/coldstart/plan.js';
import type { RowResult } from '../../src/coldstart/row.js';
import { SCENARIO_NAMES, type ScenarioName } from '../../src/coldstart/scenarios.js';
import { START_KINDS } from '../../src/coldstart/starts.js';
import { joinHalves } from '../../src/floors/floor.js';
import { summarize } from '../../src/statistics/statistics.js';
import { readOptions } from '../../src/suite/options.js';
import type { Report } from '../../src/suite/report.js';
import type { Measured } from '../../src/suite/run.js';
import { judgeTargets } from '../../src/suite/targets.js';
import { measurementWarnings } from '../../src/suite/warnings.js';

/** Makes `count` samples from `center` to 1.9 × `center`, most of them near `center`. */
const spread = (center: number, count = 40): number[] =>
  Array.from({ length: count }, (_, index) => center * (1 + (0.9 * ((index * 7) % count) ** 3) / count ** 3));

const COLD: Readonly<Record<ScenarioName, number>> = {
  'owned-sidecar': 4,
  'shared-sidecar': 0.1,
  'resident-runner': 0.2,
  embedded: 0.1,
  'embedded-inline': 0.08,
};

function fakeRow(scenario: ScenarioName, batchSize: number, mode: Mode, factor = 1): RowResult {
  const center = COLD[scenario] * factor;
  const [coldMs, warmMs] = [spread(mode === 'sequential' ? center : center * 3), spread(center / 5)];
  const batchWallMs = [center * batchSize * 1.1];
  return {
    scenario,
    batchSize,
    mode,
    iterations: 1,
    concurrency: mode === 'sequential' ? 1 : Math.min(batchSize, 8),
    sidecarSetupMs: 3,
    coldStart: summarize(coldMs),
    warmStart: summarize(warmMs),
    amortised: summarize(batchWallMs.map((wall) => wall / batchSize)),
    phases: Object.fromEntries(
      ['vm_create', 'memory_map', 'guest_run'].flatMap((phase, index) => {
        const statistics = summarize(spread((center * (index + 1)) / 10));
        return statistics ? [[phase, statistics] as const] : [];
      }),
    ),
    warmPhases: {},
    runs: { total: 80, right: 80, successRate: 1, failures: {} },
    samples: { coldMs, warmMs, batchWallMs },
    notes: [],
  };
}

function fakeMeasurements(factor = 1): Measured<ColdstartRun> {
  const floor = (name: string, center: number) => {
    const half = { samples: spread(center, 20), attempts: 20 };
    const definition = { name, what: `what ${name} is`, repeat: 1, open: () => Promise.reject(new Error('not opened here')) };
    return [name, joinHalves(definition, half, half)] as const;
  };
  const modes = ['sequential', 'concurrent'] as const;
  const startsPerSecond = spread(6000, 10);
  const before = { privateDirtyKib: 15_000, privateCleanKib: 5_000, pageTablesKib: 500, pssKib: 24_000 };
  const after = { privateDirtyKib: 215_000, privateCleanKib: 5_000, pageTablesKib: 20_500, pssKib: 240_000 };
  const memory = { privateKibPerRuntime: 220, pageTablesKibPerRuntime: 20, pssKibPerRuntime: 216, before, after };
  return {
    floors: Object.fromEntries([floor('bin_true', 1.2), floor('node_e_pinned', 25), floor('socket_ping', 0.015)]),
    results: SCENARIO_NAMES.flatMap((scenario) =>
      [1, 10, 200].flatMap((batchSize) => modes.map((mode) => fakeRow(scenario, batchSize, mode, factor))),
    ),
    skipped: [],
    throughput: {
      scenario: 'shared-sidecar',
      starts: 64,
      width: 16,
      rounds: 10,
      startsPerSecond: summarize(startsPerSecond),
      samples: startsPerSecond,
      successRate: 1,
      failures: [],
    },
    starts: START_KINDS.map((kind) => ({
      kind,
      what: `starts of ${kind}`,
      coldMs: summarize(spread(0.1 * factor)),
      samples: spread(0.1 * factor),
      successRate: 1,
      failures: [],
    })),
    density: (['runtime', 'resident-runner'] as const).map((kind) => ({
      kind,
      live: 1000,
      ...memory,
      successRate: 1,
      failures: [],
    })),
    sidecarBinary: { bytes: 4_200_000, stripped: true },
  };
}

export function fakeReport(factor = 1, change: (run: Measured<ColdstartRun>) => void = () => {}): Report<ColdstartRun> {
  const run = fakeMeasurements(factor);
  change(run);
  return {
    schema: coldstart.schema,
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 61_000,
    options: readOptions(coldstartOptions, { flags: {}, env: {} }),
    hardware: {
      cpu: 'Example <processor>',
      cores: 2,
      ramGib: 16,
      memoryAvailableGib: 12,
      loadAverage: [0.1, 0.1, 0.1],
      node: 'v20.0.0',
      arch: 'x64',
      kernel: '6.0',
    },
    timer: { resolutionMs: 0.00006 },
    warnings: measurementWarnings(coldstart, run, 0.00006),
    targets: judgeTargets(coldstart, run),
    ...run,
  };
}
