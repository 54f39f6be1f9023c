// A long life: create from a snapshot, one answer of the live runner in it, disposal, over and over, a few at a time. What the sidecar then holds that it
// did not hold before is left behind. The first five hundred or thousand fill pools and allocators and do not count.

import { readdirSync } from 'node:fs';
import { type Census, takeCensus } from '../machine/census.js';
import { privateGrowthKib } from '../machine/process-memory.js';
import { type Statistics, summarize } from '../stats/statistics.js';
import { now } from '../stats/timer.js';
import { type Host, type OpenHost, reason, type Saved } from './box.js';
import { makeOne, must } from './operation.js';
import { question, type State } from './state.js';

export interface SoakResult {
  cycles: number;
  right: number;
  successRate: number;
  failures: string[];
  /** Of a cycle, disposal included. */
  cycleMs: Statistics | null;
  /** Medians of the first to the last quarter: a rising one is something that grows. */
  quarters: number[];
  before: Census;
  after: Census;
  /** Runtimes and processes that the sidecar still counts, descriptors of its process, files in its folder. */
  left: { runtimes: number; processes: number; descriptors: number; files: number; mappings: number };
  grownKib: number;
}

export interface SoakShape {
  cycles: number;
  width: number;
  directory: string;
  warmup?: number;
  progress?: (done: number) => void;
  census?: (pid: number) => Census;
}

/** At once at first: what the sidecar does once for a snapshot of which many copies live is done before anything is counted. */
const CROWD = 32;
const LEAST_WARMUP = 500;
const MOST_WARMUP = 1_000;
const QUARTERS = 4;
const REST_MS = 100;

export async function measureSoak(open: OpenHost, shape: SoakShape): Promise<SoakResult> {
  const { cycles, width, directory, census = takeCensus } = shape;
  const { warmup = Math.min(MOST_WARMUP, Math.max(LEAST_WARMUP, Math.ceil(cycles / 10))) } = shape;
  const host = await open(directory);
  try {
    const { box, state } = await makeOne(host, 0);
    const saved = await box.snapshot('memory');
    await box.dispose();
    await life(host, saved, state, CROWD, CROWD);
    await life(host, saved, state, warmup, width);
    await rest();
    const [before, heldBefore, filesBefore] = [census(host.pid), await host.held(), countFiles(directory)];
    const { samples, failures } = await life(host, saved, state, cycles, width, shape.progress);
    await rest();
    const [after, heldAfter, filesAfter] = [census(host.pid), await host.held(), countFiles(directory)];
    await host.remove(saved);
    const quarter = Math.ceil(samples.length / QUARTERS);
    const parts = Array.from({ length: QUARTERS }, (_, index) => samples.slice(index * quarter, (index + 1) * quarter));
    return {
      cycles,
      right: samples.length,
      successRate: samples.length / cycles,
      failures: [...new Set(failures)].slice(0, 10),
      cycleMs: summarize(samples),
      quarters: parts.flatMap((part) => summarize(part)?.p50 ?? []),
      before,
      after,
      left: {
        runtimes: heldAfter.runtimes - heldBefore.runtimes,
        processes: heldAfter.processes - heldBefore.processes,
        descriptors: after.descriptors - before.descriptors,
        files: filesAfter - filesBefore,
        mappings: after.mappings - before.mappings,
      },
      grownKib: privateGrowthKib(before.memory, after.memory),
    };
  } finally {
    await host.close();
  }
}

async function life(
  host: Host,
  saved: Saved,
  state: State,
  cycles: number,
  width: number,
  progress: (done: number) => void = () => {},
) {
  const samples: number[] = [];
  const failures: string[] = [];
  let left = cycles;
  const place = async () => {
    while (left-- > 0) {
      const from = now();
      const problem = await cycle(host, saved, state).catch(reason);
      if (problem === undefined) samples.push(now() - from);
      else failures.push(problem);
      progress(samples.length + failures.length);
    }
  };
  await Promise.all(Array.from({ length: width }, place));
  return { samples, failures };
}

async function cycle(host: Host, saved: Saved, state: State): Promise<undefined> {
  const box = await host.restore(saved);
  try {
    await must(box, question(state));
  } finally {
    await box.dispose();
  }
}

/** The end of a runtime is told before all of it is gone. */
const rest = () => new Promise((resolve) => setTimeout(resolve, REST_MS));

const countFiles = (directory: string): number => readdirSync(directory, { recursive: true }).length;
