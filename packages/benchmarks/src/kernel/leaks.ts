// A thousand processes in the life of one runtime, a few at a time: what is there afterwards that was not there before.
//
// Counted are the processes of the sidecar and of the runtime, the descriptors of the sidecar's process, and its private memory. The first
// hundred fill pools and allocators and do not count.

import { readdirSync } from 'node:fs';
import { NodeRuntime, type Sidecar } from 'coldframe';
import { privateGrowthKib, readProcessMemory } from '../machine/process-memory.js';

export interface LeakResult {
  name: string;
  processes: number;
  right: number;
  /** Of the runtime, and of the sidecar's process. */
  leftProcesses: number;
  leftDescriptors: number;
  grownKib: number;
  boundKib: number;
  verdict: 'met' | 'missed';
}

export const LEAKS = { processes: 1_000, warmup: 100, width: 4, boundKib: 2_048 };

/** One process that starts a child through the shell and reads its output: three processes and two pipes. */
const PROGRAM = `
import { execFile } from 'node:child_process';
execFile('sh', ['-c', 'echo hi | cat'], (error, stdout) => { if (error || stdout !== 'hi\\n') process.exit(1); });
`;

export async function measureLeaks(sidecar: Sidecar, shape = LEAKS): Promise<LeakResult> {
  const runtime = await NodeRuntime.create({ sidecar });
  try {
    await life(runtime, shape.warmup, shape.width);
    const before = look(sidecar);
    const right = await life(runtime, shape.processes, shape.width);
    const after = look(sidecar);
    const leftProcesses = (await runtime.processes()).length;
    const leftDescriptors = after.descriptors - before.descriptors;
    const grownKib = privateGrowthKib(before.memory, after.memory);
    const met = right === shape.processes && leftProcesses === 0 && leftDescriptors <= 0 && grownKib <= shape.boundKib;
    return {
      name: `${shape.processes} processes in one runtime, each with a shell and a pipeline`,
      processes: shape.processes,
      right,
      leftProcesses,
      leftDescriptors,
      grownKib,
      boundKib: shape.boundKib,
      verdict: met ? 'met' : 'missed',
    };
  } finally {
    await runtime.dispose();
  }
}

async function life(runtime: NodeRuntime, count: number, width: number): Promise<number> {
  let left = count;
  let right = 0;
  const place = async () => {
    while (left-- > 0) {
      const { exitCode } = await runtime.exec(PROGRAM);
      if (exitCode === 0) right++;
    }
  };
  await Promise.all(Array.from({ length: width }, place));
  return right;
}

const look = ({ pid }: Sidecar) => ({
  descriptors: readdirSync(`/proc/${pid}/fd`).length,
  memory: readProcessMemory(pid),
});
