// Runs a thousand programs in one runtime, a few at a time. Counts the remaining processes of the
// runtime, and the growth of descriptors and private memory of the sidecar's process. The counts
// begin after a hundred other programs, which fill pools and allocators.

import { NodeRuntime, type Sidecar } from 'coldframe';
import { countDescriptors, privateGrowthKib, readProcessMemory } from '../machine/footprint.js';
import { runConcurrently } from '../suite/concurrency.js';
import type { Verdict } from '../suite/targets.js';

export interface LeakResult {
  name: string;
  processes: number;
  right: number;
  /** The number of processes that the runtime still has. */
  leftProcesses: number;
  /** The number of additional descriptors of the sidecar's process. */
  leftDescriptors: number;
  grownKib: number;
  boundKib: number;
  verdict: Verdict;
}

export const LEAKS = { processes: 1_000, warmup: 100, width: 4, boundKib: 2_048 };

/** A program that runs a pipeline in a shell and checks the output. */
const PROGRAM = `
import { execFile } from 'node:child_process';
execFile('sh', ['-c', 'echo hi | cat'], (error, stdout) => { if (error || stdout !== 'hi\\n') process.exit(1); });
`;

export const leakName = ({ processes }: Pick<typeof LEAKS, 'processes'>): string =>
  `${processes} processes in one runtime, each with a shell and a pipeline`;

export async function measureLeaks(sidecar: Sidecar, shape = LEAKS): Promise<LeakResult> {
  const { processes, warmup, width, boundKib } = shape;
  const runtime = await NodeRuntime.create({ sidecar });
  try {
    await runPrograms(runtime, warmup, width);
    const before = resourcesOf(sidecar);
    const right = await runPrograms(runtime, processes, width);
    const after = resourcesOf(sidecar);
    const leftProcesses = (await runtime.processes()).length;
    const leftDescriptors = after.descriptors - before.descriptors;
    const grownKib = privateGrowthKib(before.memory, after.memory);
    const met = right === processes && leftProcesses === 0 && leftDescriptors <= 0 && grownKib <= boundKib;
    const verdict = met ? 'met' : 'missed';
    return { name: leakName(shape), processes, right, leftProcesses, leftDescriptors, grownKib, boundKib, verdict };
  } finally {
    await runtime.dispose();
  }
}

/** Returns the number of programs that ended with exit code 0. */
async function runPrograms(runtime: NodeRuntime, count: number, width: number): Promise<number> {
  let right = 0;
  await runConcurrently({ count, width }, async () => {
    const { exitCode } = await runtime.exec(PROGRAM);
    if (exitCode === 0) right++;
  });
  return right;
}

const resourcesOf = ({ pid }: Sidecar) => ({ descriptors: countDescriptors(pid), memory: readProcessMemory(pid) });
