// Density: what one more live runtime costs its sidecar in private memory.
//
// A few runtimes are created, used and disposed of first, one after the other, so that what the sidecar keeps for itself is there; its
// memory is read; then `count` runtimes are created and each runs one checked snippet; all stay alive, and the difference divided by
// `count` is the answer. One after the other, because a pool full of used slots would hide the cost of the runtimes that take them.
//
// It is measured for plain runtimes, whose guest process has ended with its snippet, and for resident runners, whose guest is still
// there: the second is the dearer and the one that means something to a service.

import { type ProcessMemory, privateGrowthKib, readProcessMemory } from '../machine/process-memory.js';
import { withDeadline } from '../matrix/deadline.js';
import type { Instance } from '../scenarios/adapter.js';
import { makeSnippet, whatIsWrong } from '../scenarios/snippet.js';

/** Something that makes live instances in one process. */
export interface DensityHost {
  pid: number;
  start(): Promise<Instance>;
  close(): Promise<void>;
}

export interface DensityResult {
  kind: string;
  live: number;
  /** Private pages plus page tables, per runtime. */
  privateKibPerRuntime: number;
  pageTablesKibPerRuntime: number;
  pssKibPerRuntime: number;
  before: ProcessMemory;
  after: ProcessMemory;
  successRate: number;
  failures: string[];
}

const WIDTH = 16;
const WARMUP = 8;
const HANG_MS = 15_000;

export async function measureDensity(
  kind: string,
  count: number,
  open: () => Promise<DensityHost>,
  read: (pid: number) => ProcessMemory = readProcessMemory,
): Promise<DensityResult> {
  const host = await open();
  try {
    await withDeadline('density warm-up', HANG_MS, warmUp(host));
    const before = read(host.pid);
    const { live, failures } = await withDeadline('density', HANG_MS, startMany(host, count));
    const after = read(host.pid);
    // Only what can still be used counts as alive.
    failures.push(...(await withDeadline('density, second look', HANG_MS, askAgain(live))));
    const each = (pick: (memory: ProcessMemory) => number) => (pick(after) - pick(before)) / live.length;
    return {
      kind,
      live: live.length,
      privateKibPerRuntime: privateGrowthKib(before, after) / live.length,
      pageTablesKibPerRuntime: each((memory) => memory.pageTablesKib),
      pssKibPerRuntime: each((memory) => memory.pssKib),
      before,
      after,
      successRate: 1 - failures.length / (2 * count),
      failures: failures.slice(0, 10),
    };
  } finally {
    await withDeadline('closing the density row', HANG_MS, host.close());
  }
}

async function warmUp(host: DensityHost): Promise<void> {
  for (let round = 0; round < WARMUP; round++) {
    const instance = await host.start();
    await ask(instance);
    await instance.dispose();
  }
}

async function startMany(host: DensityHost, count: number) {
  const live: Instance[] = [];
  const failures = await inPlaces(count, async () => {
    const instance = await host.start();
    live.push(instance);
    return ask(instance);
  });
  return { live, failures };
}

const askAgain = (live: readonly Instance[]): Promise<string[]> =>
  inPlaces(live.length, (index) => {
    const instance = live[index];
    return instance ? ask(instance) : Promise.resolve('gone');
  });

async function ask(instance: Instance): Promise<string | undefined> {
  const snippet = makeSnippet();
  return whatIsWrong(snippet, await instance.exec(snippet.code));
}

/** Does something `count` times, `WIDTH` at a time; resolves with what went wrong. */
async function inPlaces(count: number, work: (index: number) => Promise<string | undefined>): Promise<string[]> {
  const failures: string[] = [];
  let begun = 0;
  const place = async () => {
    while (begun < count) {
      const wrong = await work(begun++).catch(String);
      if (wrong) failures.push(wrong);
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, place));
  return failures;
}
