// The promises of the cold-start work, each with the figure of this run beside it.
//
// The targets of the matrix stand here as code and nowhere else in this package.
// Latencies are medians over all sequential samples of a scenario. For the concurrent target the same work is compared on both
// sides: amortised time of a runtime (two snippets and disposal included) in the largest batch size, concurrent over sequential, each
// the median of its batches: a batch's value is a mean over its runtimes already.

import { SCENARIOS, type ScenarioName } from '../config/knobs.js';
import { type Draft, judge, type TargetResult } from './judge.js';
import { failed, type Measurements } from './report.js';
import { densityOf, floorP50, largest, pooled, startsP50 } from './select.js';

export function judgeTargets(run: Measurements): TargetResult[] {
  const scenarios = SCENARIOS.filter((name) => run.results.some((row) => row.scenario === name));
  const drafts = [...latencies(run), ...scenarios.map((name) => concurrency(run, name)), ...resources(run)];
  return drafts.map(judge);
}

function latencies(run: Measurements): Draft[] {
  const p50 = (scenario: ScenarioName, which: 'coldMs' | 'warmMs') => pooled(run.results, scenario, which)?.p50;
  const ms = (what: string, bound: number, measured: number | undefined): Draft => ({ what, unit: 'ms', bound, measured });
  const owned = p50('owned-sidecar', 'coldMs');
  const residentWarm = p50('resident-runner', 'warmMs');
  return [
    {
      what: 'owned cold / node -e 1 of the pinned Node',
      unit: '×',
      bound: 0.25,
      measured: over(owned, floorP50(run, 'node_e_pinned')),
    },
    ms('owned cold', 5, owned),
    ms('shared cold', 0.15, p50('shared-sidecar', 'coldMs')),
    ms('resident cold', 0.25, p50('resident-runner', 'coldMs')),
    { what: 'resident warm / socket ping', unit: '×', bound: 3, measured: over(residentWarm, floorP50(run, 'socket_ping')) },
    ms('embedded create + first exec', 0.15, p50('embedded', 'coldMs')),
    ms('embedded warm', 0.06, p50('embedded', 'warmMs')),
    ms('embedded inline create + first exec', 0.1, p50('embedded-inline', 'coldMs')),
    ms('embedded inline warm', 0.02, p50('embedded-inline', 'warmMs')),
    ms("shared cold, with an import through Node's loader", 0.2, startsP50(run, 'shared, with an import')),
    ms('shared cold, empty pool', 0.8, startsP50(run, 'shared, empty pool')),
    ms('shared cold, with an import, empty pool', 0.8, startsP50(run, 'shared, with an import, empty pool')),
    ms('embedded cold, with an import', 0.2, startsP50(run, 'embedded, with an import')),
    ms('embedded inline cold, with an import', 0.12, startsP50(run, 'embedded inline, with an import')),
  ];
}

function concurrency(run: Measurements, scenario: ScenarioName): Draft {
  const concurrent = largest(run.results, scenario, 'concurrent');
  const sequential = largest(run.results, scenario, 'sequential');
  // Wrong runs may be quick ones: an amortised time means something only when all were right.
  const right = [concurrent, sequential].every((row) => row && row.runs.right === row.runs.total);
  const measured = right ? over(concurrent?.amortised?.p50, sequential?.amortised?.p50) : undefined;
  const size = concurrent ? ` ${concurrent.batchSize}` : '';
  return { what: `${scenario}: concurrent batch${size}, amortised / sequential`, unit: '×', bound: 1.2, measured };
}

function resources(run: Measurements): Draft[] {
  const { throughput, sidecarBinary } = run;
  const runs = run.results.reduce((sum, row) => sum + row.runs.total, 0);
  const right = run.results.reduce((sum, row) => sum + row.runs.right, 0);
  const rate = throughput && !failed(throughput) ? throughput.startsPerSecond?.p50 : undefined;
  const binary = sidecarBinary && !failed(sidecarBinary) ? sidecarBinary.bytes / 1e6 : undefined;
  const kib = (kind: string) => densityOf(run, kind)?.privateKibPerRuntime;
  return [
    { what: 'right runs, all rows', unit: '%', bound: 100, atLeast: true, measured: over(100 * right, runs) },
    { what: 'shared, 64 starts, 16 at a time', unit: 'starts/s', bound: 5000, atLeast: true, measured: rate },
    { what: 'private memory per idle runtime', unit: 'KiB', bound: 300, measured: kib('runtime') },
    { what: 'private memory per idle resident runner', unit: 'KiB', bound: 300, measured: kib('resident-runner') },
    { what: 'sidecar binary', unit: 'MB', bound: 5, measured: binary },
  ];
}

const over = (a: number | undefined, b: number | undefined): number | undefined => (a === undefined || !b ? undefined : a / b);
