// The benchmark of peers: what a user would choose instead of Coldframe, and Coldframe's modes, in
// one run with equal code and equal checks.
//
// Next: `catalogue.ts` for the peers, `measure.ts` for the measurement, `work.ts` for the code.

import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { pinnedOrOwnNode } from '../machine/pinned-node.js';
import type { Benchmark, Section } from '../suite/benchmark.js';
import { RowSkipped, reason } from '../suite/failures.js';
import { numberOption, textOption } from '../suite/options.js';
import { progressOnStderr } from '../suite/progress.js';
import { ms } from '../suite/text.js';
import { type Peer, peers } from './catalogue.js';
import { startHost } from './host.js';
import { installPeer, peerCache } from './install.js';
import { measurePeers, type OpenPeer, type PeerResult } from './measure.js';
import { peerCharts, peerTables } from './tables.js';

export type PeerOptions = {
  /** Texts, separated by commas. A peer is measured if its name contains one of the texts. */
  only: string;
  cache: string;
  rounds: number;
  live: number;
  budgetSeconds: number;
  quick: boolean;
};

export type PeerRun = { peers: { results: PeerResult[] } | null };

export interface PeerSetup {
  open: readonly OpenPeer[];
  options: PeerOptions;
}

const COLD_PER_ROUND = 3;
const WARM_PER_ROUND = 40;
/** The share of the time for rounds. The rest is for the memory. */
const ROUNDS_SHARE = 0.8;

const section: Section<PeerSetup, PeerRun, 'peers'> = {
  field: 'peers',
  isSingle: true,
  open: ({ open, options: { rounds, live, quick } }) => ({
    rows: [
      {
        name: 'all peers, in rounds',
        key: { row: 'peers' },
        guessMs: 1,
        measure: async ({ budgetMs, progress }) => {
          if (open.length === 0) throw new RowSkipped('no peer has a name with this text (--only)');
          const shape = {
            rounds,
            live,
            isQuick: quick,
            coldPerRound: quick ? 1 : COLD_PER_ROUND,
            warmPerRound: quick ? 2 : WARM_PER_ROUND,
            budgetMs: budgetMs * ROUNDS_SHARE,
          };
          return { results: await measurePeers(open, shape, progress) };
        },
      },
    ],
  }),
  describe: ({ results }) => results.map(({ name, cold, error }) => `${name} ${error ? '–' : `${ms(cold?.p50)} ms`}`).join(', '),
  outcomes: ({ results }) =>
    results.map(({ name, runs, error }) => ({
      name,
      total: runs.total,
      right: runs.right,
      failure: error ?? Object.keys(runs.failures)[0],
      // A peer that cannot be installed is a row with the reason, and no failure of the benchmark.
      ...(error !== undefined && { isAccepted: true }),
    })),
  figures: ({ results }) =>
    results.flatMap(({ name, cold, warm, computations }) => {
      const isFloor = !name.startsWith('coldframe ');
      return [
        { name: `${name}, cold`, statistics: cold, isFloor },
        { name: `${name}, warm`, statistics: warm, isFloor },
        { name: `${name}, calls`, statistics: computations.calls, isFloor },
        { name: `${name}, objects`, statistics: computations.objects, isFloor },
      ];
    }),
  tables: ({ peers: run }) => (run ? peerTables(run.results) : []),
  charts: ({ peers: run }) => (run ? peerCharts(run.results) : []),
};

/**
 * Installs and starts the chosen peers. A peer that cannot be installed or started has a reason.
 */
async function openPeers({ only, cache }: PeerOptions, scratch: string): Promise<OpenPeer[]> {
  const wanted = only.split(',').map((text) => text.trim());
  const open: OpenPeer[] = [];
  for (const peer of peers.filter(({ name }) => wanted.some((text) => name.includes(text)))) {
    open.push(await openPeer(peer, cache, mkdtempSync(join(scratch, 'peer-'))));
  }
  return open;
}

async function openPeer(peer: Peer, cache: string, scratch: string): Promise<OpenPeer> {
  let step = 'not installed';
  try {
    if (peer.package) progressOnStderr.write(`${peer.name}: ${peer.package.name}@${peer.package.version}`);
    const installed = peer.package ? await installPeer(peer.package, cache) : '';
    step = 'not started';
    return { peer, host: await startHost(peer, installed, scratch) };
  } catch (error) {
    return { peer, problem: `${step}: ${reason(error)}` };
  }
}

export const peersBenchmark: Benchmark<PeerOptions, PeerSetup, PeerRun> = {
  name: 'peers',
  schema: 'coldframe-peers/1',
  heading: 'Coldframe and what a user would choose instead',
  summary: `Cold start, warm evaluation, computation and memory of other runtimes and engines, and of Coldframe's modes, in
one run. Missing packages are installed with npm, at exact versions, into the cache folder.`,
  options: {
    only: textOption({
      name: '--only',
      placeholder: 'TEXTS',
      help: 'only the peers whose name contains one of these texts, separated by commas',
      fallback: '',
    }),
    cache: textOption({ name: '--cache', placeholder: 'DIR', help: 'the folder of installed packages', fallback: peerCache() }),
    rounds: numberOption({
      name: '--rounds',
      placeholder: 'N',
      help: 'most rounds',
      fallback: 25,
      quick: 2,
      from: 1,
      to: 10_000,
    }),
    live: numberOption({
      name: '--live',
      placeholder: 'N',
      help: 'live instances for the memory of an instance',
      fallback: 12,
      quick: 2,
      from: 1,
      to: 1_000,
    }),
    budgetSeconds: numberOption({
      name: '--seconds',
      placeholder: 'N',
      help: 'time of the measurements; if the time is short, there are fewer rounds',
      fallback: 240,
      from: 10,
      to: 86_400,
    }),
  },
  hasQuickForm: true,
  floorSamples: ({ quick }) => (quick ? 0 : 20),
  budgetMs: ({ budgetSeconds }, floorsMs) => Math.max(0, budgetSeconds * 1_000 - 2 * floorsMs),
  open: async (options, { scratch }) => {
    const open = await openPeers(options, scratch);
    return {
      setup: { open, options },
      close: async () => {
        await Promise.all(open.map(({ host }) => host?.close()));
      },
    };
  },
  facts: () => ({ nodeOfPeers: pinnedOrOwnNode() === process.execPath ? 'the Node of the benchmark' : 'the pinned Node' }),
  sections: [section],
};
