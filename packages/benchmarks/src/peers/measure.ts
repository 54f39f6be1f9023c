// Measures all peers in one run.
//
// Cold starts, warm evaluations and computations are measured in rounds: each round has some work
// of each peer. A disturbance of the machine therefore affects all peers. The memory follows, one
// peer at a time, because live instances of one peer would disturb another peer.

import { type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import { countRuns, type Runs, reason } from '../suite/failures.js';
import { anotherFits, runRounds } from '../suite/rounds.js';
import type { Peer } from './catalogue.js';
import type { PeerHost } from './host.js';
import { readTreeMemory, type TreeMemory } from './tree-memory.js';
import { COMPUTATIONS, type Computation, longWork, shortWork, type Work } from './work.js';

/** A peer whose process is running, or the reason why the peer cannot run. */
export interface OpenPeer {
  peer: Peer;
  host?: PeerHost;
  problem?: string;
}

/** One result in the JSON. */
export interface PeerResult {
  name: string;
  isolation: string;
  keepsState: boolean;
  /** The package with its version. */
  package: string | null;
  cold: Statistics | null;
  warm: Statistics | null;
  computations: Record<Computation, Statistics | null>;
  /** KiB of an additional live instance. `null` if the memory could not be read. */
  memory: { pssKib: number; rssKib: number; live: number } | null;
  /** Raw milliseconds in order. */
  samples: { coldMs: number[]; warmMs: number[] };
  runs: Runs;
  /** The reason why the peer has no figures. */
  error?: string;
}

export interface PeerShape {
  rounds: number;
  coldPerRound: number;
  warmPerRound: number;
  /** Live instances for the memory. */
  live: number;
  isQuick: boolean;
  budgetMs: number;
}

interface Collected extends OpenPeer {
  cold: number[];
  warm: number[];
  computed: Record<Computation, number[]>;
  memory: PeerResult['memory'];
  failures: string[];
  total: number;
}

const WARMUP = 1;

export async function measurePeers(
  all: readonly OpenPeer[],
  shape: PeerShape,
  progress: (text: string) => void = () => {},
  read: (pid: number) => TreeMemory = readTreeMemory,
): Promise<PeerResult[]> {
  const collected = all.map(
    (each): Collected => ({
      ...each,
      cold: [],
      warm: [],
      computed: { calls: [], objects: [] },
      memory: null,
      failures: [],
      total: 0,
    }),
  );
  await measureRounds(collected, shape, progress);
  for (const each of collected) {
    if (!each.host) continue;
    progress(`memory of ${each.peer.name}`);
    await measureMemory(each, each.host, shape.live, read);
  }
  return collected.map(resultOf);
}

async function measureRounds(collected: readonly Collected[], shape: PeerShape, progress: (text: string) => void): Promise<void> {
  const deadline = now() + shape.budgetMs;
  const walls: { wallMs: number }[] = [];
  const warmup = shape.isQuick ? 0 : WARMUP;
  await runRounds(
    { warmup, rounds: shape.rounds },
    async (isWarmup) => {
      const from = now();
      // Each round begins with another peer, so that no peer always follows the same peer.
      for (let index = 0; index < collected.length; index++) {
        const each = collected[(index + walls.length) % collected.length];
        if (each?.host) await measureRound(each, each.host, shape, isWarmup);
      }
      walls.push({ wallMs: now() - from });
      progress(`round ${walls.length} of ${warmup + shape.rounds}`);
    },
    () => walls.length === warmup || anotherFits(walls, deadline - now()),
  );
}

async function measureRound(
  each: Collected,
  host: PeerHost,
  { coldPerRound, warmPerRound, isQuick }: PeerShape,
  isWarmup: boolean,
): Promise<void> {
  const short = (length: number): Work[] => Array.from({ length }, shortWork);
  const take = async (kind: 'cold' | 'warm', work: readonly Work[], into: number[]) => {
    if (!each.host) return;
    const { samples, failures } = await host.work(kind, work).catch((error) => {
      // A process that has ended or hangs gets no further work.
      delete each.host;
      return { samples: [], failures: [reason(error)] };
    });
    if (isWarmup && failures.length === 0) return;
    into.push(...samples);
    each.total += samples.length + failures.length;
    each.failures.push(...failures);
  };
  await take('cold', short(coldPerRound), each.cold);
  await take('warm', short(warmPerRound), each.warm);
  for (const computation of COMPUTATIONS) {
    await take('warm', [longWork(computation, isQuick)], each.computed[computation]);
  }
}

/**
 * Reads the memory before and after `live` instances start, and checks that all instances reply
 * again. One earlier set of instances has filled caches and allocators.
 */
async function measureMemory(each: Collected, host: PeerHost, live: number, read: (pid: number) => TreeMemory): Promise<void> {
  const work = () => Array.from({ length: live }, shortWork);
  try {
    await host.work('start', work());
    await host.work('end');
    const before = read(host.pid);
    const started = await host.work('start', work());
    const after = read(host.pid);
    const again = await host.work('again', work());
    await host.work('end');
    const failures = [...started.failures, ...again.failures];
    each.total += 2 * live;
    each.failures.push(...failures);
    const per = (pick: (memory: TreeMemory) => number) => (pick(after) - pick(before)) / live;
    if (failures.length === 0) {
      each.memory = { pssKib: per(({ pssKib }) => pssKib), rssKib: per(({ rssKib }) => rssKib), live };
    }
  } catch (error) {
    each.total++;
    each.failures.push(`memory: ${reason(error)}`);
  }
}

function resultOf({ peer, problem, cold, warm, computed, memory, failures, total }: Collected): PeerResult {
  const { name, isolation, keepsState, package: installed } = peer;
  // A peer with a wrong value has no figures: a wrong value can be a fast value.
  const figures = (samples: readonly number[]) => (failures.length > 0 ? null : summarize(samples));
  return {
    name,
    isolation,
    keepsState,
    package: installed ? `${installed.name}@${installed.version}` : null,
    cold: figures(cold),
    warm: figures(warm),
    computations: { calls: figures(computed.calls), objects: figures(computed.objects) },
    memory: failures.length > 0 ? null : memory,
    samples: { coldMs: cold, warmMs: warm },
    runs: countRuns(total, failures),
    ...(problem !== undefined && { error: problem }),
  };
}
