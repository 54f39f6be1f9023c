// The run's tables as rows of text.

import { publishedMemory } from '../peers/published.js';
import { ms, percentage, seconds } from '../report/format.js';
import { floorTable, type Table, targetTable } from '../report/tables.js';
import { WHAT } from './kinds.js';
import type { DensityReport } from './report.js';
import type { LiveResult } from './result.js';

/** Those that have rows; the targets are the last. */
export const densityTables = (report: DensityReport): Table[] =>
  [costTable, makingTable, burstTable, peerTable, floorTable, targetTable]
    .map((table) => table(report))
    .filter(({ rows }) => rows.length > 0);

const costTable = ({ rows }: DensityReport): Table => ({
  title: 'What each live runtime costs its sidecar',
  head: [
    'kind',
    'count',
    'live',
    'private KiB',
    'page tables',
    'mappings',
    'descriptors',
    'Pss KiB',
    'KiB after probe',
    'success',
  ],
  rows: rows.map((row) => [
    WHAT[row.kind],
    `${row.count}`,
    `${row.live}`,
    ...[row.privateKib, row.pageTablesKib, row.mappings, row.descriptors, row.pssKib, row.privateKibAfterProbe].map((value) =>
      value.toFixed(1),
    ),
    percentage(row.successRate),
  ]),
  textColumns: [0],
});

const makingTable = ({ rows, holds }: DensityReport): Table => ({
  title: 'Making and asking them (ms, to the first answer)',
  head: [
    'kind',
    'count',
    'at once',
    'p50',
    'p95',
    'max',
    'by quarter',
    'wall',
    'probe p50',
    'p95',
    'max',
    'sweep',
    'success',
    'partial',
    'not ready',
    'refused',
  ],
  rows: [...rows, ...holds].map((row) => [...making(row), ...outcomes(row)]),
  textColumns: [0],
});

const making = ({ kind, count, width, createMs, quarters, createWallMs, probeMs, probeWallMs }: LiveResult): string[] => [
  WHAT[kind],
  `${count}`,
  `${Math.min(width, count)}`,
  ...[createMs?.p50, createMs?.p95, createMs?.max].map(ms),
  quarters.map(ms).join(' '),
  seconds10(createWallMs),
  ...[probeMs?.p50, probeMs?.p95, probeMs?.max].map(ms),
  seconds10(probeWallMs),
];

const outcomes = ({ outcomes: { success, partial, readinessFailed, refused } }: LiveResult): string[] =>
  [success, partial, readinessFailed, refused].map(String);

/** Tenths below ten seconds. */
const seconds10 = (milliseconds: number): string =>
  milliseconds < 9_950 ? `${(milliseconds / 1000).toFixed(1)} s` : seconds(milliseconds);

const burstTable = ({ bursts }: DensityReport): Table => ({
  title: 'Bursts: N at one moment, each to its first answer (ms)',
  head: ['kind', 'N', 'rounds', 'p50', 'p95', 'max', 'wall p50', 'per second', 'right', ''],
  rows: bursts.flatMap(({ kind, rows, knee }) =>
    rows.map(({ n, rounds, answerMs, wallMs, perSecond, successRate }) => [
      WHAT[kind],
      `${n}`,
      `${rounds}`,
      ...[answerMs?.p50, answerMs?.p95, answerMs?.max, wallMs?.p50].map(ms),
      `${Math.round(perSecond)}`,
      percentage(successRate),
      n === knee ? 'knee' : '',
    ]),
  ),
  textColumns: [0, 9],
});

function peerTable({ rows }: DensityReport): Table {
  const ours = (live: number | undefined) =>
    (['idle', 'runner', 'clone'] as const).map((kind) => {
      const row = rows.filter((each) => each.kind === kind && each.count <= (live ?? 1_000)).at(-1);
      return row ? `${row.privateKib.toFixed(0)}` : '–';
    });
  return {
    title: 'Published by others, beside ours (KiB each): other machines, other classes of isolation',
    head: ['system', 'isolation', 'live', 'theirs', 'ours: idle', 'runner', 'copy', 'how they counted'],
    rows: publishedMemory.map(({ system, isolation, live, kib, is }) => [
      system,
      isolation,
      live === undefined ? '–' : `${live}`,
      `${Math.round(kib)}`,
      ...ours(live),
      is,
    ]),
    textColumns: [0, 1, 7],
  };
}
