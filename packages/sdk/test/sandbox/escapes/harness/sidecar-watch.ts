// Compares the process of the neighbour's sidecar with its state before the cases: pid,
// descriptors, mappings, threads, memory. In embedded mode this process is the process of the
// tests. The sidecars of owned runtimes must have ended.

import { readdirSync, readFileSync } from 'node:fs';
import type { Sidecar } from '../../../../src/index.js';
import { childrenOf, descriptorsOf, isRunning, residentBytes, sleep } from '../../processes.js';

/**
 * Allowed mappings and threads beyond the first state: 256 stacks with guards that are kept for
 * reuse, arenas of the allocator, threads for cryptography.
 */
const SLACK_MAPPINGS = 1_000;
const SLACK_THREADS = 10;
/** The allowed growth of memory in bytes: free memory that the allocator may keep. */
const SLACK_BYTES = 512 << 20;
/**
 * The allowed memory files beyond the first state. A guest's growth beyond 1 MiB has its own file,
 * and the neighbour may have grown since the first state.
 */
const SLACK_GROWN = 1;
const isGrowth = (name: string): boolean => name.startsWith('/memfd:coldframe');
/**
 * The longest time, in milliseconds, until the sidecar has released the resources of ended
 * programs.
 */
const TAKEDOWN_MS = 3_000;

interface ProcessState {
  descriptors: string[];
  mappings: number;
  threads: number;
  bytes: number;
}

function stateOf(pid: number): ProcessState {
  return {
    descriptors: descriptorsOf(pid),
    mappings: readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n').length,
    threads: readdirSync(`/proc/${pid}/task`).length,
    bytes: residentBytes(pid),
  };
}

/** Compares one sidecar with its first state. */
export class SidecarWatch {
  readonly #first: ProcessState;
  readonly #children = childrenOf();

  readonly sidecar: Sidecar;

  constructor(sidecar: Sidecar) {
    this.sidecar = sidecar;
    this.#first = stateOf(sidecar.pid);
  }

  /** Returns a sentence about a problem, or `undefined`. Only the neighbour's runtime may exist. */
  async check(): Promise<string | undefined> {
    const end = performance.now() + TAKEDOWN_MS;
    for (;;) {
      if (!isRunning(this.sidecar.pid)) return 'the sidecar has ended';
      const { runtimes } = await this.sidecar.getResourceSnapshot();
      const wrong =
        runtimes === 1
          ? (this.#compare(stateOf(this.sidecar.pid)) ?? this.#newChildren())
          : `the sidecar still has ${runtimes} runtimes`;
      if (!wrong || performance.now() > end) return wrong;
      await sleep(10);
    }
  }

  #newChildren(): string | undefined {
    const added = childrenOf().filter((pid) => !this.#children.includes(pid));
    return added.length > 0 ? `sidecars of the case still run: ${added}` : undefined;
  }

  #compare(now: ProcessState): string | undefined {
    const first = this.#first;
    if (now.descriptors.filter(isGrowth).length > first.descriptors.filter(isGrowth).length + SLACK_GROWN)
      return `the sidecar has other descriptors: ${now.descriptors.join()}; before: ${first.descriptors.join()}`;
    const others = (state: ProcessState): string => state.descriptors.filter((name) => !isGrowth(name)).join();
    if (others(now) !== others(first))
      return `the sidecar has other descriptors: ${now.descriptors.join()}; before: ${first.descriptors.join()}`;
    if (now.mappings > first.mappings + SLACK_MAPPINGS)
      return `the sidecar has ${now.mappings} mappings; before: ${first.mappings}`;
    if (now.threads > first.threads + SLACK_THREADS) return `the sidecar has ${now.threads} threads; before: ${first.threads}`;
    if (now.bytes > first.bytes + SLACK_BYTES) return `the sidecar holds ${now.bytes} bytes; before: ${first.bytes}`;
    return undefined;
  }
}
