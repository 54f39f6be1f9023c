// The run's tables as rows of text: the terminal and the page show the same ones.

import { type Published, publishedLifecycle } from '../peers/published.js';
import { ms, percentage } from '../report/format.js';
import { failed } from '../report/report.js';
import { floorTable, type Table, targetTable } from '../report/tables.js';
import type { OperationName } from './plan.js';
import type { LifecycleReport } from './report.js';
import type { LifecycleRow } from './result.js';
import { atOnce, wallOf } from './select.js';

/** Those that have rows; the targets are the last. */
export const lifecycleTables = (report: LifecycleReport): Table[] =>
  [rowTable, factTable, atOnceTable, soakTable, peerTable, floorTable, targetTable]
    .map((table) => table(report))
    .filter(({ rows }) => rows.length > 0);

const rowTable = ({ rows }: LifecycleReport): Table => ({
  title: 'Operations (ms)',
  head: [
    'operation',
    'state',
    'measure',
    'n',
    'rounds',
    'wall p50',
    'p95',
    'max',
    'MAD',
    'wall / n',
    'each p50',
    'p95',
    'max',
    'right',
  ],
  rows: rows.flatMap((row) => {
    const measures = Object.entries(row.measures);
    // A row without any right round has no measures, and must be seen all the same.
    return (measures.length > 0 ? measures : [['–', undefined] as const]).map(([name, measure]) => [
      row.operation,
      row.variant,
      name,
      `${row.n}`,
      `${row.rounds}`,
      ...[measure?.wall?.p50, measure?.wall?.p95, measure?.wall?.max, measure?.wall?.mad, measure?.per?.p50].map(ms),
      ...[measure?.each?.p50, measure?.each?.p95, measure?.each?.max].map(ms),
      percentage(row.runs.successRate),
    ]);
  }),
  textColumns: [0, 1, 2],
});

const factTable = ({ rows }: LifecycleReport): Table => ({
  title: 'What else was seen',
  head: ['operation', 'state', 'n', 'fact', 'p50', 'max'],
  rows: rows.flatMap((row) =>
    Object.entries(row.facts).map(([name, { p50, max }]) => [row.operation, row.variant, `${row.n}`, name, ms(p50), ms(max)]),
  ),
  textColumns: [0, 1, 3],
});

const atOnceTable = ({ rows }: LifecycleReport): Table => ({
  title: 'Ten at once against one (wall p50, ms)',
  head: ['operation', 'one', 'ten', 'ten / one'],
  rows: atOnce(rows)
    .filter(({ ratio }) => ratio !== undefined)
    .map(({ name, one, ten, ratio }) => [name, ms(one), ms(ten), ratio?.toFixed(2) ?? '–']),
  textColumns: [0],
});

function soakTable({ soak }: LifecycleReport): Table {
  const head = [
    'cycles',
    'cycle p50 ms',
    'by quarter',
    'runtimes',
    'processes',
    'descriptors',
    'files',
    'mappings',
    'KiB',
    'RSS MiB',
    'right',
  ];
  if (!soak || failed(soak)) return { title: 'Soak', head, rows: [], textColumns: [] };
  const { runtimes, processes, descriptors, files, mappings } = soak.left;
  const row = [
    `${soak.cycles}`,
    ms(soak.cycleMs?.p50),
    soak.quarters.map(ms).join(' '),
    ...[runtimes, processes, descriptors, files, mappings, soak.grownKib].map(String),
    `${(soak.before.rssKib / 1024).toFixed(1)} → ${(soak.after.rssKib / 1024).toFixed(1)}`,
    percentage(soak.successRate),
  ];
  return { title: 'Soak: create from a snapshot, answer, dispose; what was left behind', head, rows: [row], textColumns: [] };
}

function peerTable({ rows }: LifecycleReport): Table {
  return {
    title: 'Published by others, beside ours (wall, ms): other machines, other classes of isolation',
    head: [
      'operation',
      'state',
      'measure',
      'n',
      'theirs',
      'is',
      'ours p50',
      'theirs / ours',
      'system',
      'isolation',
      'machine',
      'note',
    ],
    rows: publishedLifecycle
      .filter(({ operation }) => rows.some((row) => row.operation === operation))
      .map((theirs) => {
        const ours = oursFor(rows, theirs);
        return [
          theirs.operation,
          theirs.megabytes === undefined ? '–' : theirs.megabytes === 0 ? 'fresh' : `${theirs.megabytes} MB dirty`,
          theirs.measure,
          `${theirs.n}`,
          ms(theirs.ms),
          theirs.is,
          ms(ours),
          ours ? `${(theirs.ms / ours).toPrecision(3)} ×` : '–',
          theirs.system,
          theirs.isolation,
          theirs.rig,
          theirs.note ?? '',
        ];
      }),
    textColumns: [0, 1, 2, 5, 8, 9, 10, 11],
  };
}

/** Ours for the same operation, number and size; theirs without a size stand beside our fresh ones. */
export function oursFor(rows: readonly LifecycleRow[], { operation, measure, n, megabytes = 0 }: Published): number | undefined {
  const way = operation === 'spawn' ? { way: 'clone' } : {};
  // Their creations end with an answer or before it; ours are compared with the answer in.
  const ours = measure === 'create' || measure === 'resume' ? 'answer' : measure;
  return wallOf(rows, { operation: operation as OperationName, measure: ours, n, megabytes, ...way })?.p50;
}
