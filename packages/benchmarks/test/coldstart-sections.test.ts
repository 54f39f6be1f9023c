// Tests floors, throughput, other starts and density with fakes. Tests the readers of /proc and ELF
// files with known content.

import { expect, test } from 'vitest';
import { measureDensity } from '../src/coldstart/density.js';
import { measureStarts } from '../src/coldstart/starts.js';
import { measureThroughput } from '../src/coldstart/throughput.js';
import { spawnFloor, workerFloor } from '../src/floors/definitions.js';
import { joinHalves, takeHalf } from '../src/floors/floor.js';
import { binaryOfProcess, describeBinary } from '../src/machine/binary.js';
import { parseProcessMemory, privateGrowthKib, readProcessMemory } from '../src/machine/footprint.js';
import { parseTicks, readTicks, sharesBetween } from '../src/machine/usage.js';
import type { ExecResult } from '../src/sandbox/snippet.js';
import { fakeScenario } from './helpers/fake-scenario.js';

test('measures a floor in halves, and returns their ratio as drift', async () => {
  const floor = spawnFloor('bin_true', 'spawn', () => '/bin/true', []);
  const half = await takeHalf(floor, 3);
  expect(half).toMatchObject({ attempts: 3 });
  expect(half.samples).toHaveLength(3);
  expect(Math.min(...half.samples)).toBeGreaterThan(0);
  const slow = { ...half, samples: half.samples.map((sample) => sample * 2) };
  const joined = joinHalves(floor, half, slow);
  expect(joined.drift).toBeCloseTo(2, 6);
  expect(joined).toMatchObject({ successRate: 1, statistics: { count: 6 } });
});

test.each([
  ['a program that fails', () => '/bin/false', '/bin/false ended with exit code 1'],
  ['a missing program', () => '/no/such/program', 'ENOENT'],
])('%s fails its floor, with the reason', async (_name, path, message) => {
  const floor = spawnFloor('x', 'x', path, []);
  const half = await takeHalf(floor, 2);
  const joined = joinHalves(floor, half, half);
  expect(joined.statistics).toBeNull();
  expect(joined.error).toContain(message);
});

test('starts a worker and checks its message', async () => {
  expect((await takeHalf(workerFloor, 2)).samples).toHaveLength(2);
});

test('counts only right starts in the throughput', async () => {
  const shape = { starts: 20, width: 4, rounds: 2, warmupRounds: 1 };
  const { scenario, counters } = fakeScenario({
    startMs: 2,
    answer: (right, run) => (run === 25 ? { ...right, exitCode: 3 } : right),
  });
  const result = await measureThroughput(scenario, shape);
  expect(result).toMatchObject({ successRate: 39 / 40, failures: ['exit code 3 instead of 0'] });
  expect(result.samples).toHaveLength(2);
  expect(result.startsPerSecond?.max).toBeLessThan(4 * 500);
  expect(counters).toMatchObject({ live: 0, mostLive: 4, closed: 1 });
});

test('starts programs with an import in an empty pool, and counts only right starts', async () => {
  const { scenario, counters } = fakeScenario();
  let held = 0;
  const seen: string[] = [];
  const open = async () => {
    const host = await scenario.open();
    const start = async (files: Readonly<Record<string, string>>) => {
      const instance = await host.start(() => {});
      const exec = (code: string) => {
        seen.push(code);
        const factor = /= (\d+);/.exec(files['/workspace/factor.mjs'] ?? '')?.[1] ?? '';
        const whole = code.replace(/^import .*\n/, '').replace('factor', factor);
        return instance.exec(seen.length === 7 ? "console.log('other', 1)" : whole);
      };
      return { exec, dispose: () => instance.dispose() };
    };
    return { start, holdSlot: async () => void held++, close: () => host.close() };
  };
  const kind = { name: 'x', what: 'x', imports: true, emptyPool: true, open };
  const result = await measureStarts(kind, 10);
  expect(seen[0]).toMatch(/^import \{ factor \} from '.*';\nconsole\.log\('\w+', factor \* \d+ \+ \d+\);$/);
  expect(result).toMatchObject({ kind: 'x', successRate: 0.9, failures: ['exit code 1 instead of 0'] });
  expect(result.samples).toHaveLength(9);
  expect({ held, ...counters }).toMatchObject({ held: 15, live: 0, mostLive: 1, closed: 1 });
});

test('divides the growth of memory by the live runtimes, and runs all of them again', async () => {
  let reads = 0;
  let late = 0;
  const answer = (right: ExecResult) => (reads < 2 || ++late % 10 > 0 ? right : { ...right, stdout: '' });
  const { scenario, counters } = fakeScenario({ answer });
  const readings = [
    { privateDirtyKib: 1000, privateCleanKib: 500, pageTablesKib: 100, pssKib: 2000 },
    { privateDirtyKib: 21_000, privateCleanKib: 10_500, pageTablesKib: 1100, pssKib: 62_000 },
  ];
  const nothing = { privateDirtyKib: 0, privateCleanKib: 0, pageTablesKib: 0, pssKib: 0 };
  let liveAtSecondReading = 0;
  const read = () => {
    reads++;
    liveAtSecondReading = counters.live;
    return readings.shift() ?? nothing;
  };
  const open = async () => {
    const host = await scenario.open();
    return { pid: 1, start: () => host.start(() => {}), close: () => host.close() };
  };
  const result = await measureDensity('runtime', 100, open, read);
  expect(liveAtSecondReading).toBe(100);
  expect(result).toMatchObject({ live: 100, privateKibPerRuntime: 310, pageTablesKibPerRuntime: 10, pssKibPerRuntime: 600 });
  expect(late).toBe(100);
  expect(result.successRate).toBe(0.95);
});

test('reads the memory of a process from /proc, and names a missing line in the error', () => {
  const rollup = 'Rss:  50 kB\nPss:   40 kB\nPrivate_Clean:   3 kB\nPrivate_Dirty:   20 kB\n';
  const memory = { privateDirtyKib: 20, privateCleanKib: 3, pageTablesKib: 7, pssKib: 40 };
  expect(parseProcessMemory(rollup, 'VmPeak:\t 9 kB\nVmPTE:\t  7 kB\n')).toEqual(memory);
  expect(() => parseProcessMemory(rollup, '')).toThrow('VmPTE');
  expect(readProcessMemory(process.pid).privateDirtyKib).toBeGreaterThan(1000);
  // In the second reading no clean page is private, as after another process has mapped the files.
  expect(privateGrowthKib(memory, { ...memory, privateCleanKib: 0, privateDirtyKib: 30 })).toBe(10);
});

test('splits processor time into our share, the share of others, and steal', () => {
  const self = `7 (a (odd) name) S ${'0 '.repeat(10)}30 10 5 5 0 0`;
  const before = parseTicks('cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 …', `7 (x) S ${'0 '.repeat(10)}0 0 0 0 0`);
  const after = parseTicks('cpu  200 0 150 1640 0 0 0 10 0 0\ncpu0 …', self);
  expect(after.ours).toBe(50);
  expect(sharesBetween(before, after, 2)).toEqual({ others: 100 / 1000, steal: 10 / 1000 });
  expect(sharesBetween(before, before, 2)).toBeUndefined();
  expect(readTicks().total).toBeGreaterThan(0);
});

test('reads the size of the running binary, and refuses a file that is no ELF file', () => {
  expect(binaryOfProcess(process.pid).bytes).toBeGreaterThan(1_000_000);
  expect(() => describeBinary(Buffer.from('#!/bin/sh'))).toThrow('ELF');
  const file = Buffer.alloc(64 + 2 * 64);
  file.write('\x7fELF\x02\x01', 'latin1');
  file.writeBigUInt64LE(64n, 0x28);
  file.writeUInt16LE(64, 0x3a);
  file.writeUInt16LE(2, 0x3c);
  expect(describeBinary(file)).toEqual({ bytes: 192, stripped: true });
  file.writeUInt32LE(2, 64 + 64 + 4);
  expect(describeBinary(file).stripped).toBe(false);
});
