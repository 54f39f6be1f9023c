// The tables and the chart of the benchmark of Python.

import type { DensityResult } from '../coldstart/density.js';
import type { Chart } from '../page/document.js';
import { drawRanges } from '../page/ranges.js';
import { seriesColor } from '../page/svg.js';
import { figure, type Table, table, time, times, words } from '../suite/table.js';
import type { CloneResult } from './clones.js';
import type { EndingResult } from './endings.js';
import { meanRatio, type ProgramResult } from './programs.js';
import type { StartResult } from './starts.js';

export const startTable = (all: readonly StartResult[], version: string): Table =>
  table(`Starts and evaluations, in turns, in milliseconds; native Python ${version}`, all, [
    words('row', ({ name }) => name),
    words('what', ({ what }) => what),
    ...times(['p50', 'p95', 'p99', 'min', 'MAD'], ({ times: statistics }: StartResult) => statistics),
    words('failure', ({ error }) => error ?? ''),
  ]);

export const startChart = (all: readonly StartResult[]): Chart => ({
  heading: 'Starts and evaluations',
  note: 'Dot: median; tick: p95; end of the bar: p99. Logarithmic.',
  legend: [
    { name: 'Coldframe', color: seriesColor(0) },
    { name: 'floors and peers', color: 'var(--dim)' },
  ],
  drawing: drawRanges(
    all.flatMap(({ name, times: statistics, isFloor }) =>
      statistics ? [{ name, statistics, color: isFloor ? 'var(--dim)' : seriesColor(0) }] : [],
    ),
    'Median, p95 and p99 of starts and evaluations of Python',
  ),
});

export const memoryTable = (all: readonly DensityResult[]): Table =>
  table('Private memory of live runtimes with Python', all, [
    words('kind', ({ kind }) => kind),
    figure('live', ({ live }) => live),
    figure('private KiB', ({ privateKibPerRuntime: each }) => each.toFixed(0)),
    figure('page tables KiB', ({ pageTablesKibPerRuntime: each }) => each.toFixed(0)),
  ]);

export const cloneTable = (all: readonly CloneResult[]): Table =>
  table('Clones of a runner with imported modules, in milliseconds', all, [
    figure('clones', ({ count }) => count),
    figure('right', ({ right }) => right),
    time('import', ({ importMs }) => importMs),
    time('clone()', ({ cloneMs }) => cloneMs),
    time('all answered', ({ answeredMs }) => answeredMs),
  ]);

export const endingTable = (all: readonly EndingResult[]): Table =>
  table('The end of programs that do not end, in milliseconds', all, [
    words('program', ({ name }) => name),
    ...times(['SIGKILL p50', 'max'], ({ kill }: EndingResult) => kill),
    ...times(['after timeout p50', 'max'], ({ late }: EndingResult) => late),
    ...times(['interrupt() p50', 'max'], ({ interrupt }: EndingResult) => interrupt),
    words('failure', ({ error }) => error ?? ''),
  ]);

export const programTable = (all: readonly ProgramResult[], version: string): Table =>
  table(
    `Processor time in ms; native Python ${version}; geometric mean of the ratios: ${meanRatio(all)?.toFixed(2) ?? '–'}`,
    all,
    [
      words('program', ({ name }) => name),
      words('what', ({ what }) => what),
      ...times(['native mean'], ({ native }: ProgramResult) => native),
      ...times(['sandbox mean'], ({ box }: ProgramResult) => box),
      figure('ratio', ({ ratio }) => ratio?.toFixed(2)),
      words('failure', ({ error }) => error ?? ''),
    ],
  );
