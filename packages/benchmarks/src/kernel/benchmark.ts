// The kernel benchmark: the cost of files, sockets, processes, bindings and requests in the
// sandbox, beside the pinned Node on the same machine. The benchmark also counts the resources that
// remain after a thousand processes.
//
// Next: `guest.ts` for the rows inside a guest, `app.ts` for the rows between guest and app.

import { Sidecar } from 'coldframe';
import type { Benchmark, Section } from '../suite/benchmark.js';
import { textOption } from '../suite/options.js';
import { figure, type Table, table, times, words } from '../suite/table.js';
import type { Target } from '../suite/targets.js';
import { ms } from '../suite/text.js';
import { appRows } from './app.js';
import { guestRows } from './guest.js';
import { LEAKS, type LeakResult, leakName, measureLeaks } from './leaks.js';
import { inMilliseconds, type KernelResult, measureRow } from './row.js';

export type KernelOptions = { only: string };

export type KernelRun = { results: KernelResult[]; leaks: LeakResult | null };

interface KernelSetup extends KernelOptions {
  sidecar: Sidecar;
}

const allRows = [...guestRows, ...appRows];

const results: Section<KernelSetup, KernelRun, 'results'> = {
  field: 'results',
  open: ({ only, sidecar }) => ({
    rows: allRows
      .filter(({ name }) => name.includes(only))
      .map((row) => ({ name: row.name, key: { row: row.name }, measure: () => measureRow(row, sidecar) })),
  }),
  describe: ({ unit, node, sandbox, error }) =>
    error ?? `${node ? `Node ${ms(node.p50)} ${unit}, ` : ''}sandbox ${ms(sandbox?.p50)} ${unit}`,
  outcomes: ({ name, error }) => [{ name, total: 1, right: error === undefined ? 1 : 0, failure: error }],
  figures: ({ name, unit, sandbox, node }) => [
    { name, statistics: inMilliseconds(unit, sandbox) },
    { name: `${name}, Node`, statistics: inMilliseconds(unit, node), isFloor: true },
  ],
  targets: allRows.flatMap(({ name, unit, target }): Target<KernelRun>[] =>
    target
      ? [{ ...target, what: name, unit, measured: (run) => run.results.find((row) => row.name === name)?.sandbox?.p50 }]
      : [],
  ),
  tables: (run) => [resultTable(run.results)],
};

const resultTable = (rows: readonly KernelResult[]): Table =>
  table('Sandbox and Node', rows, [
    words('row', ({ name }) => name),
    words('unit', ({ unit }) => unit),
    ...times(['Node p50'], ({ node }: KernelResult) => node),
    ...times(['sandbox p50', 'p95'], ({ sandbox }: KernelResult) => sandbox),
    figure('target', ({ bound }) => (bound === null ? '' : `≤ ${bound}`)),
    words('verdict', ({ verdict, error }) => (error === undefined ? (verdict ?? '') : 'failed')),
  ]);

/** Returns the result of the leak row, or `undefined` if a process failed. */
const rightLeaks = ({ leaks: result }: KernelRun): LeakResult | undefined =>
  result?.right === result?.processes ? (result ?? undefined) : undefined;

const leaks: Section<KernelSetup, KernelRun, 'leaks'> = {
  field: 'leaks',
  isSingle: true,
  open: ({ only, sidecar }) => {
    const name = leakName(LEAKS);
    return { rows: name.includes(only) ? [{ name, key: { row: name }, measure: () => measureLeaks(sidecar) }] : [] };
  },
  describe: ({ right, processes, verdict }) => `${right} of ${processes} right: ${verdict}`,
  outcomes: ({ name, processes, right }) => [{ name, total: processes, right }],
  targets: [
    {
      promise: 'K6',
      what: 'growth of memory by 1,000 processes',
      unit: 'KiB',
      atMost: LEAKS.boundKib,
      measured: (run) => rightLeaks(run)?.grownKib,
    },
    {
      promise: 'K10',
      what: 'left behind by 1,000 processes: processes, descriptors',
      unit: '',
      atMost: 0,
      measured: (run) => {
        const result = rightLeaks(run);
        return result && result.leftProcesses + Math.max(0, result.leftDescriptors);
      },
    },
  ],
  tables: (run) => (run.leaks ? [leakTable(run.leaks)] : []),
};

const leakTable = (result: LeakResult): Table =>
  table(
    `${result.name}: what was left behind`,
    [result],
    [
      figure('right', ({ right, processes }) => `${right} of ${processes}`),
      figure('processes', ({ leftProcesses }) => leftProcesses),
      figure('descriptors', ({ leftDescriptors }) => leftDescriptors),
      figure('KiB', ({ grownKib }) => grownKib),
      figure('target', ({ boundKib }) => `≤ ${boundKib}`),
      words('verdict', ({ verdict }) => verdict),
    ],
  );

export const kernel: Benchmark<KernelOptions, KernelSetup, KernelRun> = {
  name: 'kernel',
  schema: 'coldframe-kernel/1',
  heading: 'Coldframe: the kernel',
  summary: `System calls, loopback sockets, children, shells, bindings and requests: the sandbox and the pinned Node,
row by row in turns; then a thousand processes in one runtime.`,
  options: {
    only: textOption({ name: '--only', placeholder: 'TEXT', help: 'only the rows whose name contains TEXT', fallback: '' }),
  },
  floorSamples: () => 0,
  open: async ({ only }) => {
    const sidecar = await Sidecar.spawn();
    return { setup: { only, sidecar }, close: () => sidecar.dispose() };
  },
  sections: [results, leaks],
};
