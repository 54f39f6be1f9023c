// Declares the kinds of live runtimes that the density benchmark counts.
//
// A source creates live runtimes, and probes a runtime with new numbers any number of times. A new
// kind needs an entry in `declared`.

import { createPackageParent, packageQuestion } from '../sandbox/packages.js';
import { evaluateRight, type MeasuredRuntime, type MeasuredSidecar, type OpenSidecar } from '../sandbox/runtime.js';
import { makeSnippet, problemOf } from '../sandbox/snippet.js';

/** A sidecar that creates live runtimes of one kind. */
export interface LiveSource {
  sidecar: MeasuredSidecar;
  create(): Promise<MeasuredRuntime>;
  /** Probes a runtime. @throws when the reply is wrong. */
  probe(runtime: MeasuredRuntime): Promise<void>;
}

interface Kind {
  what: string;
  /** The heading of the kind's column in the table of published figures. */
  short: string;
  /** Whether the kind can reach the system's limit of mappings at one of the benchmark's counts. */
  meetsMappingLimit?: true;
  /** The promises of private memory: at most 300 KiB for each of `count` live runtimes. */
  memory: readonly { promise: string; count: number; what: string }[];
  open(sidecar: MeasuredSidecar): Promise<Omit<LiveSource, 'sidecar'>>;
}

const probeRunner = (runtime: MeasuredRuntime) => evaluateRight(runtime, makeSnippet());

async function probeProgram(runtime: MeasuredRuntime): Promise<void> {
  const snippet = makeSnippet();
  const problem = problemOf(snippet, await runtime.exec(snippet.code));
  if (problem !== undefined) throw new Error(problem);
}

const declared = {
  /** The runtime has run a program and has no process. */
  idle: {
    what: 'idle after one exec',
    short: 'idle',
    memory: [
      { promise: 'D1', count: 1_000, what: 'private memory each, 1,000 live, idle after one exec' },
      { promise: 'D2', count: 10_000, what: 'private memory each, 10,000 live, idle after one exec' },
    ],
    open: async (sidecar) => ({ create: () => sidecar.create({ runner: false }), probe: probeProgram }),
  },
  /** A resident runner waits in the runtime. */
  runner: {
    what: 'an idle resident runner each',
    short: 'runner',
    memory: [
      { promise: 'D3', count: 1_000, what: 'private memory each, 1,000 live resident runners' },
      { promise: 'D4', count: 10_000, what: 'private memory each, 10,000 live resident runners' },
    ],
    open: async (sidecar) => ({ create: () => sidecar.create({ runner: true }), probe: probeRunner }),
  },
  /**
   * Clones of one warm runner with packages. No promise bounds the memory of a clone, because the
   * memory depends on the program.
   */
  clone: {
    what: 'copies of one warm runner with packages',
    short: 'copy',
    meetsMappingLimit: true,
    memory: [],
    open: async (sidecar) => {
      const parent = await createPackageParent(sidecar);
      const snapshot = await parent.snapshot('memory');
      await parent.dispose();
      return { create: () => sidecar.restore(snapshot), probe: (runtime) => evaluateRight(runtime, packageQuestion()) };
    },
  },
} satisfies Record<string, Kind>;

export type KindName = keyof typeof declared;

export const KINDS: Readonly<Record<KindName, Kind>> = declared;
export const KIND_NAMES = Object.keys(KINDS) as KindName[];

export async function openSource(kind: KindName, open: OpenSidecar, directory: string): Promise<LiveSource> {
  const sidecar = await open(directory);
  try {
    return { sidecar, ...(await KINDS[kind].open(sidecar)) };
  } catch (error) {
    await sidecar.close();
    throw error;
  }
}
