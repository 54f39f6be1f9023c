// The network benchmark: connections out of a runtime, lookups, updates of the policy, and the
// gateway. Each row has a floor in the same run, which is usually the pinned Node.
//
// Next: `pressure-rows.ts`, `programs.ts` for the programs of both sides, `peer.ts` for the
// servers.

import { Sidecar } from 'coldframe';
import { runInSandbox, runOnBothSides } from '../sandbox/both-sides.js';
import type { Benchmark, Section } from '../suite/benchmark.js';
import { textOption } from '../suite/options.js';
import type { Target } from '../suite/targets.js';
import { ms } from '../suite/text.js';
import { idleTable, publishedChart, publishedTable, resultTable } from './figures.js';
import { measureGateway } from './gateway.js';
import { IDLE, type IdleResult, idleRows, measureIdle } from './idle.js';
import { measureMembers } from './members.js';
import { startPeer, towardsPeer } from './peer.js';
import { pressureRows } from './pressure-rows.js';
import {
  cachedLookUp,
  connectEcho,
  freshQuery,
  fullHandshake,
  keptFetch,
  receiveSecureStream,
  receiveStream,
  resumedHandshake,
  roundTrip,
} from './programs.js';
import { inMilliseconds, measureRow, type NetworkResult, type NetworkRow, type NetworkSetup } from './row.js';
import { measureUpdates } from './updates.js';

export type NetworkBenchOptions = { only: string };

export type NetworkRun = { results: NetworkResult[]; idle: IdleResult[] };

interface Setup extends NetworkSetup, NetworkBenchOptions {}

/** The runs of a program on each side. */
const ROUNDS = 5;

const both =
  (program: (ports: NetworkSetup['ports']) => string): NetworkRow['measure'] =>
  async ({ sidecar, ports }) => {
    const options = { network: towardsPeer(ports), rounds: ROUNDS };
    const { sandbox, node } = await runOnBothSides(program(ports), sidecar, options);
    return { sandbox, floor: node };
  };

const inSandbox =
  (program: (ports: NetworkSetup['ports']) => string): NetworkRow['measure'] =>
  async ({ sidecar, ports }) => {
    const { samples } = await runInSandbox(program(ports), sidecar, towardsPeer(ports));
    return { sandbox: samples };
  };

const rows: readonly NetworkRow[] = [
  {
    name: 'a connection to the outside, and the echo of one byte',
    unit: 'µs',
    target: { promise: 'N1', atMost: 2, of: 'ratio' },
    measure: both(connectEcho),
  },
  { name: 'a round trip of one byte over an open connection', unit: 'µs', measure: both(roundTrip) },
  {
    name: 'fetch of 1 KiB, over a kept connection',
    unit: 'µs',
    target: { promise: 'N2', atMost: 4, of: 'ratio' },
    measure: both(keptFetch),
  },
  {
    name: 'a stream of 64 MiB to a guest',
    unit: 'ms',
    target: { promise: 'N4', atMost: 4, of: 'ratio' },
    measure: both(receiveStream),
  },
  {
    name: 'a full handshake of TLS, and a GET',
    unit: 'µs',
    target: { promise: 'N3', atMost: 1.5, of: 'ratio' },
    measure: both(fullHandshake),
  },
  {
    name: 'a resumed handshake of TLS, and a GET',
    unit: 'µs',
    floor: 'a full handshake',
    target: { promise: 'N22', atMost: 0.5, of: 'ratio' },
    measure: async ({ sidecar, ports }) => {
      const run = (program: string) => runInSandbox(program, sidecar, towardsPeer(ports));
      const full = await run(fullHandshake(ports));
      const resumed = await run(resumedHandshake(ports));
      return { sandbox: resumed.samples, floor: full.samples };
    },
  },
  {
    name: 'a stream of 64 MiB over TLS to a guest',
    unit: 'ms',
    target: { promise: 'N23', atMost: 3.3, of: 'ratio' },
    measure: both(receiveSecureStream),
  },
  {
    name: 'an update of one rule',
    unit: 'ms',
    floor: 'ping',
    target: { promise: 'N6', atMost: 0.2, of: 'value' },
    measure: (setup) => measureUpdates(1, setup),
  },
  {
    name: 'an update of 1,000 rules',
    unit: 'ms',
    floor: 'ping',
    target: { promise: 'N18', atMost: 2, of: 'value' },
    measure: (setup) => measureUpdates(1_000, setup),
  },
  {
    name: 'a lookup from the cache',
    unit: 'µs',
    target: { promise: 'N19', atMost: 60, of: 'value' },
    measure: inSandbox(cachedLookUp),
  },
  {
    name: 'a query to a DNS server of this machine',
    unit: 'µs',
    target: { promise: 'N24', atMost: 1.3, of: 'ratio' },
    measure: both(freshQuery),
  },
  {
    name: 'a round trip of one byte between two runtimes of a network',
    unit: 'µs',
    floor: 'own loopback',
    target: { promise: 'N11', atMost: 1.3, of: 'ratio' },
    measure: measureMembers,
  },
  {
    name: 'a GET through a gateway',
    unit: 'µs',
    floor: 'runtime.fetch()',
    target: { promise: 'N12', atMost: 1.5, of: 'ratio' },
    measure: measureGateway,
  },
  ...pressureRows,
];

const results: Section<Setup, NetworkRun, 'results'> = {
  field: 'results',
  open: ({ only, ...setup }) => ({
    rows: rows
      .filter(({ name }) => name.includes(only))
      .map((row) => ({ name: row.name, key: { row: row.name }, measure: () => measureRow(row, setup) })),
  }),
  describe: ({ unit, floorName, floor, sandbox, ratio, error }) =>
    error ?? `sandbox ${ms(sandbox?.p50)} ${unit}${floor ? `, ${floorName} ${ms(floor.p50)}: ${ratio?.toFixed(2)} ×` : ''}`,
  outcomes: ({ name, error }) => [{ name, total: 1, right: error === undefined ? 1 : 0, failure: error }],
  figures: ({ name, unit, sandbox, floor, floorName }) => [
    { name, statistics: inMilliseconds(unit, sandbox) },
    { name: `${name}, ${floorName}`, statistics: inMilliseconds(unit, floor), isFloor: true },
  ],
  targets: rows.flatMap(({ name, unit, target }): Target<NetworkRun>[] => {
    if (target === undefined) return [];
    const { promise, atMost, of } = target;
    const measured = (run: { results: readonly NetworkResult[] }): number | undefined => {
      const result = run.results.find((row) => row.name === name);
      return (of === 'ratio' ? result?.ratio : result?.sandbox?.p50) ?? undefined;
    };
    return [{ promise, what: name, unit: of === 'ratio' ? '×' : unit, atMost, measured }];
  }),
  tables: (run) => [resultTable(run.results), publishedTable(run.results)],
  charts: (run) => [publishedChart(run.results)],
};

const idleOf = ({ idle: all }: Pick<NetworkRun, 'idle'>, wanted: string): IdleResult | undefined =>
  all.find(({ name }) => name === wanted);

const memoryOf =
  (name: string) =>
  (run: Pick<NetworkRun, 'idle'>): number | undefined => {
    const result = idleOf(run, name);
    return result && result.sidecarKib + result.edgeKib;
  };

const idle: Section<Setup, NetworkRun, 'idle'> = {
  field: 'idle',
  open: ({ only, ...setup }) => ({
    rows: idleRows
      .filter(({ name }) => name.includes(only))
      .map((row) => ({ name: row.name, key: { row: row.name }, measure: () => measureIdle(row, setup) })),
  }),
  describe: ({ replied, sidecarKib, edgeKib, lastToFirst }) =>
    `${replied} replied, ${(sidecarKib + edgeKib).toFixed(2)} KiB each, last to first ${lastToFirst.toFixed(2)} ×`,
  outcomes: ({ name, connections, replied }) => [{ name, total: connections, right: replied }],
  targets: [
    {
      promise: 'N9',
      what: 'an idle connection, in the sidecar and the edge process',
      unit: 'KiB',
      atMost: 2,
      measured: memoryOf(IDLE.plain),
    },
    {
      promise: 'N30',
      what: 'an idle connection over TLS, in the sidecar and the edge process',
      unit: 'KiB',
      atMost: 24,
      measured: memoryOf(IDLE.secure),
    },
    {
      promise: 'N10',
      what: 'the last 1,000 of 10,000 connections, divided by the first 1,000',
      unit: '×',
      atMost: 1.2,
      measured: (run) => idleOf(run, IDLE.plain)?.lastToFirst,
    },
    {
      promise: 'N31',
      what: 'the last 1,000 of 10,000 connections of 1,000 runtimes, divided by the first 1,000',
      unit: '×',
      atMost: 1.2,
      measured: (run) => idleOf(run, IDLE.many)?.lastToFirst,
    },
    {
      promise: 'N21',
      what: 'idle connections that transfer a byte afterwards',
      unit: '%',
      atLeast: 100,
      measured: ({ idle }) =>
        idle.length > 0 ? Math.min(...idle.map((one) => (100 * one.replied) / one.connections)) : undefined,
    },
  ],
  tables: (run) => [idleTable(run.idle)],
};

export const network: Benchmark<NetworkBenchOptions, Setup, NetworkRun> = {
  name: 'network',
  schema: 'coldframe-network/1',
  heading: 'Coldframe: the network',
  summary: `Connections out of a runtime, lookups, updates of the policy and the gateway: the sandbox and the pinned Node,
row by row in turns, with servers in a process of their own.`,
  options: {
    only: textOption({ name: '--only', placeholder: 'TEXT', help: 'only the rows whose name contains TEXT', fallback: '' }),
  },
  floorSamples: () => 0,
  open: async ({ only }) => {
    const [sidecar, peer] = await Promise.all([Sidecar.spawn(), startPeer()]);
    return {
      setup: { only, sidecar, ports: peer.ports },
      close: async () => {
        await Promise.all([sidecar.dispose(), peer.close()]);
      },
    };
  },
  sections: [results, idle],
};
