// Tests the comparison of two runs: the definition of a difference, and the exit code of the
// command.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { benchmarks } from '../src/benchmarks.js';
import { compareReports, figuresOf, readReport, slowerThan } from '../src/compare/compare.js';
import { toJson } from '../src/suite/report.js';
import { fakeReport } from './helpers/report.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coldframe-compare-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

test('finds no difference between a run and itself', () => {
  const { comparisons, unmatched } = compareReports(fakeReport(), fakeReport());
  expect(new Set(comparisons.map(({ verdict }) => verdict))).toEqual(new Set(['same']));
  expect(comparisons.filter(({ isFloor }) => isFloor)).toHaveLength(3);
  expect(comparisons.filter(({ isFloor }) => !isFloor)).toHaveLength(5 * 3 * 2 * 2);
  expect(unmatched).toEqual([]);
});

test('calls a doubled time slower in one direction and faster in the other', () => {
  const { comparisons } = compareReports(fakeReport(), fakeReport(2));
  const shared = comparisons.find(({ name }) => name === 'shared-sidecar sequential 10 cold');
  expect(shared?.ratio).toBeCloseTo(2, 6);
  expect(shared?.verdict).toBe('slower');
  expect(comparisons.filter(({ isFloor }) => isFloor).every(({ verdict }) => verdict === 'same')).toBe(true);
  const back = compareReports(fakeReport(2), fakeReport()).comparisons;
  expect(back.find(({ name }) => name === 'shared-sidecar sequential 10 cold')?.verdict).toBe('faster');
});

test('finds no difference within the noise', () => {
  const wide = (report: ReturnType<typeof fakeReport>) => {
    for (const row of report.results) if (row.coldStart) row.coldStart = { ...row.coldStart, count: 3, mad: row.coldStart.p50 };
    return report;
  };
  const { comparisons } = compareReports(wide(fakeReport()), wide(fakeReport(1.5)));
  expect(comparisons.find(({ name }) => name === 'embedded sequential 1 cold')?.verdict).toBe('same');
  expect(slowerThan(comparisons, 1.2).every(({ name }) => name.endsWith('warm'))).toBe(true);
});

test('lists the rows that only one file has', () => {
  const fewer = fakeReport(1, (run) => run.results.splice(0, 1));
  expect(compareReports(fakeReport(), fewer).unmatched).toEqual([
    'owned-sidecar sequential 1 cold',
    'owned-sidecar sequential 1 warm',
  ]);
});

test('reports rows that exceed a limit beyond their noise, and no floors', () => {
  const slowFloors = fakeReport(1.3, (run) => {
    for (const floor of Object.values(run.floors)) if (floor.statistics) floor.statistics.p50 *= 9;
  });
  const { comparisons } = compareReports(fakeReport(), slowFloors);
  expect(slowerThan(comparisons, 1.5)).toEqual([]);
  expect(slowerThan(comparisons, 1.05)).toHaveLength(60);
});

test('names the file in the error when the file is no report', () => {
  expect(() => readReport(join(folder, 'missing.json'))).toThrow(/missing\.json: expected the JSON of a run: .*ENOENT/);
  expect(() => readReport(file('other.json', '{"schema":"x"}'))).toThrow(/expected schema coldframe-coldstart\/1, .*, got "x"/);
  expect(() => readReport(file('broken.json', '{'))).toThrow('broken.json');
  expect(readReport(file('good.json', toJson(fakeReport())))).toMatchObject({ results: { length: 30 } });
});

test('refuses to compare runs of different benchmarks', () => {
  const pool = { ...fakeReport(), schema: 'coldframe-pool/1' };
  expect(() => compareReports(fakeReport(), pool)).toThrow('got coldframe-coldstart/1 and coldframe-pool/1');
});

const statistics = { count: 9, mean: 2, p50: 2, p95: 3, p99: 3, min: 1, max: 3, mad: 0.1 };

/**
 * Results as the first versions of the benchmarks wrote them. Fields that no figure needs are left
 * out.
 */
const FIRST_VERSIONS: Record<string, { json: object; names: string[] }> = {
  'coldframe-coldstart/1': {
    json: {
      knobs: {},
      results: [{ scenario: 'embedded', mode: 'sequential', batchSize: 1, coldStart: statistics, warmStart: null }],
      throughput: { error: 'throughput: Error: x' },
    },
    names: ['embedded sequential 1 cold'],
  },
  'coldframe-lifecycle/1': {
    json: {
      rows: [{ operation: 'clone', variant: 'fresh', n: 10, measures: { clone: { wall: statistics, each: statistics } } }],
    },
    names: ['clone fresh 10, clone, wall', 'clone fresh 10, clone, each'],
  },
  'coldframe-density/1': {
    json: {
      plan: {},
      rows: [{ kind: 'idle', count: 5, createMs: statistics, probeMs: statistics, privateKib: 10 }],
      holds: [],
      bursts: [{ kind: 'idle', rows: [{ n: 4, answerMs: statistics }] }],
    },
    names: ['idle 5, create', 'idle 5, probe', 'idle 5, private KiB each', 'idle, burst of 4, answer'],
  },
  'coldframe-pool/1': {
    json: {
      amortised: [{ way: 'pool', uses: 10, width: 1, amortisedMs: 1, eachMs: statistics }],
      crowds: [{ way: 'cold', at: 10, eachMs: statistics, wallMs: null }],
    },
    names: ['pool, K = 10, 1 at a time, amortised', 'pool, K = 10, 1 at a time, each', 'cold, 10 at one moment, each'],
  },
  'coldframe-kernel/1': {
    json: { results: [{ name: 'stat', unit: 'µs', sandbox: statistics, node: statistics }], leaks: null },
    names: ['stat', 'stat, Node'],
  },
  'coldframe-network/1': {
    json: {
      results: [
        { name: 'an echo', unit: 'µs', floorName: 'Node', sandbox: statistics, floor: statistics, ratio: 1, bound: '≤ 2 ×' },
        { name: 'a lookup', unit: 'µs', floorName: 'Node', sandbox: statistics, floor: null, ratio: null, bound: '' },
      ],
    },
    names: ['an echo', 'an echo, Node', 'a lookup'],
  },
  'coldframe-userland/1': {
    json: { results: [{ name: 'url: parse', sandbox: statistics, node: statistics, ratio: 1 }] },
    names: ['url: parse', 'url: parse, Node'],
  },
  'coldframe-micro/1': {
    json: {
      results: [
        { name: 'ping', what: '', statistics },
        { name: 'broken', what: '', statistics: null, error: 'x' },
      ],
    },
    names: ['ping'],
  },
  'coldframe-matrix/1': {
    json: {
      rows: [
        {
          operation: 'exec',
          cells: [
            { side: 'shared', width: 4, isBesideNeighbour: false, statistics },
            { side: 'node', width: 1, isBesideNeighbour: true, statistics },
          ],
        },
      ],
    },
    names: ['exec, shared, 4 at once', 'exec, node, neighbour'],
  },
  'coldframe-neighbour/1': {
    json: { programs: [{ name: 'an empty loop', exec: statistics, ping: statistics, runs: {} }], calls: [] },
    names: ['an empty loop, exec', 'an empty loop, ping'],
  },
  'coldframe-gate/1': {
    json: { gate: { rows: [{ name: 'exec, shared', operationMs: statistics, floorMs: statistics }], missing: [] } },
    names: ['exec, shared', 'exec, shared, floor'],
  },
  'coldframe-peers/1': {
    json: {
      peers: {
        results: [{ name: 'node:vm', package: null, cold: statistics, warm: statistics, computations: { calls: statistics } }],
      },
    },
    names: ['node:vm, cold', 'node:vm, warm', 'node:vm, calls'],
  },
  'coldframe-python/1': {
    json: {
      starts: [{ version: '3.13.0', rows: [{ name: 'cold', what: '', isFloor: false, times: statistics }] }],
      memory: [],
      clones: [],
      endings: [{ name: 'a wait', kill: statistics, late: statistics, interrupt: statistics }],
      programs: [{ name: 'nbody', box: statistics, native: statistics, ratio: 2 }],
    },
    names: ['cold', 'SIGKILL: a wait', 'nbody', 'nbody, native'],
  },
  'coldframe-serve/1': {
    json: {
      times: [{ name: 'create', server: statistics, floor: statistics, floorName: 'the SDK' }],
      rates: [{ name: 'creates', times: statistics }],
      live: [{ count: 5, createMs: statistics, commandMs: statistics }],
    },
    names: ['create', 'create, the SDK', 'creates', 'create among 5 live sandboxes', 'a command among 5 live sandboxes'],
  },
};

test.each(benchmarks.map(({ schema }) => schema))('reads the figures of the first version of %s', (schema) => {
  const { json, names } = FIRST_VERSIONS[schema] ?? { json: {}, names: ['missing'] };
  const report = readReport(file('first.json', JSON.stringify({ schema, ...json })));
  expect(figuresOf(report).map(({ name }) => name)).toEqual(names);
});

test('compares microseconds and milliseconds in milliseconds', () => {
  const results = [{ name: 'stat', unit: 'µs', sandbox: statistics, node: statistics }];
  const [sandbox, node] = figuresOf({ schema: 'coldframe-kernel/1', results } as never);
  expect(sandbox).toMatchObject({ isFloor: false, statistics: { count: 9, p50: 0.002 } });
  expect(node).toMatchObject({ isFloor: true });
});
