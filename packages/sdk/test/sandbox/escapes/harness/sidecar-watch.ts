// The sidecar as the operating system sees it: whether it is the same process, and whether it holds more than before.

import { readdirSync, readFileSync } from 'node:fs';
import type { Sidecar } from '../../../../src/index.js';
import { descriptorsOf, isRunning, residentBytes, sleep } from '../../processes.js';

/** Mappings and threads that may be there or not: 256 stacks with their guards that are kept for reuse, the allocator's arenas, threads for cryptography. */
const SLACK_MAPPINGS = 1_000;
const SLACK_THREADS = 10;
/** Memory that the allocator may keep when all is given back. */
const SLACK_BYTES = 512 << 20;
/** Memory beyond a guest's first MiB of growth lies in a file of its own: the neighbour, which lives on, may have come to have one. */
const SLACK_GROWN = 1;
const isGrowth = (name: string): boolean => name.startsWith('/memfd:coldframe');
/** How long what has ended may take to be taken down. */
const PATIENCE_MS = 3_000;

interface State {
  descriptors: string[];
  mappings: number;
  threads: number;
  bytes: number;
}

function look(pid: number): State {
  return {
    descriptors: descriptorsOf(pid),
    mappings: readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n').length,
    threads: readdirSync(`/proc/${pid}/task`).length,
    bytes: residentBytes(pid),
  };
}

/** See the module. */
export class SidecarWatch {
  readonly #first: State;

  readonly sidecar: Sidecar;

  constructor(sidecar: Sidecar) {
    this.sidecar = sidecar;
    this.#first = look(sidecar.pid);
  }

  /** What is wrong with it: a sentence, or nothing. One runtime should be left: the neighbour's. */
  async look(): Promise<string | undefined> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      if (!isRunning(this.sidecar.pid)) return 'the sidecar has ended';
      const { runtimes } = await this.sidecar.getResourceSnapshot();
      const wrong = runtimes === 1 ? this.#compare(look(this.sidecar.pid)) : `the sidecar still has ${runtimes} runtimes`;
      if (!wrong || performance.now() > end) return wrong;
      await sleep(10);
    }
  }

  #compare(now: State): string | undefined {
    const first = this.#first;
    if (now.descriptors.filter(isGrowth).length > first.descriptors.filter(isGrowth).length + SLACK_GROWN)
      return `the sidecar has other descriptors: ${now.descriptors.join()}; before: ${first.descriptors.join()}`;
    const others = (state: State): string => state.descriptors.filter((name) => !isGrowth(name)).join();
    if (others(now) !== others(first))
      return `the sidecar has other descriptors: ${now.descriptors.join()}; before: ${first.descriptors.join()}`;
    if (now.mappings > first.mappings + SLACK_MAPPINGS)
      return `the sidecar has ${now.mappings} mappings; before: ${first.mappings}`;
    if (now.threads > first.threads + SLACK_THREADS) return `the sidecar has ${now.threads} threads; before: ${first.threads}`;
    if (now.bytes > first.bytes + SLACK_BYTES) return `the sidecar holds ${now.bytes} bytes; before: ${first.bytes}`;
    return undefined;
  }
}
