// Repeats a cycle many times: a runtime is restored from a snapshot, its live runner replies, and
// the runtime is disposed of. The result is the growth of the sidecar's resources between two
// counts. Before the first count, 500 to 1,000 cycles fill pools and allocators.

import { readdirSync } from 'node:fs';
import { type Footprint, privateGrowthKib, readFootprint } from '../machine/footprint.js';
import { evaluateRight, type MeasuredSidecar, type MeasuredSnapshot, type OpenSidecar } from '../sandbox/runtime.js';
import { quarterMedians, type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import { runConcurrently } from '../suite/concurrency.js';
import { reason } from '../suite/failures.js';
import { prepareRuntime } from './operation.js';
import { type State, stateQuestion } from './state.js';

export interface SoakResult {
  cycles: number;
  right: number;
  successRate: number;
  failures: string[];
  /** The time of a cycle, disposal included. */
  cycleMs: Statistics | null;
  /** Medians of the first to the last quarter. */
  quarters: number[];
  before: Footprint;
  after: Footprint;
  /**
   * The growth of five counts: runtimes and processes that the sidecar reports, descriptors and
   * mappings of its process, and files in its folder.
   */
  left: { runtimes: number; processes: number; descriptors: number; files: number; mappings: number };
  grownKib: number;
}

export interface SoakShape {
  cycles: number;
  /** The number of cycles at a time. */
  width: number;
  directory: string;
  warmup?: number;
  progress?: (done: number) => void;
  footprint?: (pid: number) => Footprint;
}

/**
 * The number of cycles that run at once at the start. After these cycles the sidecar has done its
 * one-time work for a restored snapshot.
 */
const FIRST_AT_ONCE = 32;
const LEAST_WARMUP = 500;
const MOST_WARMUP = 1_000;
const FAILURES = 10;
/**
 * Milliseconds to wait before counting, because the end of a runtime is reported before the sidecar
 * has released all resources.
 */
const REST_MS = 100;

export async function measureSoak(open: OpenSidecar, shape: SoakShape): Promise<SoakResult> {
  const { cycles, width, directory, footprint = readFootprint } = shape;
  const { warmup = Math.min(MOST_WARMUP, Math.max(LEAST_WARMUP, Math.ceil(cycles / 10))) } = shape;
  const sidecar = await open(directory);
  const rest = () => new Promise((resolve) => setTimeout(resolve, REST_MS));
  const resources = async () => ({
    footprint: footprint(sidecar.pid),
    held: await sidecar.held(),
    files: readdirSync(directory, { recursive: true }).length,
  });
  try {
    const { runtime, state } = await prepareRuntime(sidecar, 0);
    const snapshot = await runtime.snapshot('memory');
    await runtime.dispose();
    const cycle = () => runCycle(sidecar, snapshot, state);
    await runCycles(FIRST_AT_ONCE, FIRST_AT_ONCE, cycle);
    await runCycles(warmup, width, cycle);
    await rest();
    const before = await resources();
    const { samples, failures } = await runCycles(cycles, width, cycle, shape.progress);
    await rest();
    const after = await resources();
    await sidecar.deleteSnapshot(snapshot);
    return {
      cycles,
      right: samples.length,
      successRate: samples.length / cycles,
      failures: [...new Set(failures)].slice(0, FAILURES),
      cycleMs: summarize(samples),
      quarters: quarterMedians(samples),
      before: before.footprint,
      after: after.footprint,
      left: {
        runtimes: after.held.runtimes - before.held.runtimes,
        processes: after.held.processes - before.held.processes,
        descriptors: after.footprint.descriptors - before.footprint.descriptors,
        files: after.files - before.files,
        mappings: after.footprint.mappings - before.footprint.mappings,
      },
      grownKib: privateGrowthKib(before.footprint.memory, after.footprint.memory),
    };
  } finally {
    await sidecar.close();
  }
}

async function runCycles(count: number, width: number, cycle: () => Promise<void>, progress: (done: number) => void = () => {}) {
  const samples: number[] = [];
  const failures: string[] = [];
  await runConcurrently({ count, width }, async () => {
    const from = now();
    try {
      await cycle();
      samples.push(now() - from);
    } catch (error) {
      failures.push(reason(error));
    }
    progress(samples.length + failures.length);
  });
  return { samples, failures };
}

async function runCycle(sidecar: MeasuredSidecar, snapshot: MeasuredSnapshot, state: State): Promise<void> {
  const runtime = await sidecar.restore(snapshot);
  try {
    await evaluateRight(runtime, stateQuestion(state));
  } finally {
    await runtime.dispose();
  }
}
