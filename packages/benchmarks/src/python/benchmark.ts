// The benchmark of Python. The rows are starts, evaluations, memory, clones, the end of endless
// programs, and the processor time of programs beside the native Python.
//
// Next: `starts.ts`, `memory.ts`, `clones.ts`, `endings.ts` and `programs.ts` for the rows.

import { Sidecar } from 'coldframe';
import type { DensityResult } from '../coldstart/density.js';
import { peerCache } from '../peers/install.js';
import type { Benchmark, Section } from '../suite/benchmark.js';
import { namesOption, numberOption, textOption } from '../suite/options.js';
import { ms } from '../suite/text.js';
import { type CloneResult, measureClones } from './clones.js';
import { type EndingResult, endless, measureEnding } from './endings.js';
import { cloneTable, endingTable, memoryTable, programTable, startChart, startTable } from './figures.js';
import { measureMemory, memoryKinds } from './memory.js';
import { findNative, type NativePython } from './native.js';
import { meanRatio, measureProgram, type ProgramResult, pythonPrograms } from './programs.js';
import { measureStarts, type StartResult } from './starts.js';

const PARTS = ['starts', 'memory', 'clones', 'endings', 'programs'] as const;

export type PythonOptions = {
  only: string;
  parts: readonly (typeof PARTS)[number][];
  samples: number;
  live: number;
  clones: number;
  python: string;
  cache: string;
};

/** The rows of `starts` are measured in turns, so they are one result. */
export interface StartsResult {
  version: string;
  rows: StartResult[];
}

export type PythonRun = {
  starts: StartsResult[];
  memory: DensityResult[];
  clones: CloneResult[];
  endings: EndingResult[];
  programs: ProgramResult[];
};

interface Setup extends PythonOptions {
  native: NativePython;
  sidecar: Sidecar;
}

const ENDING_SAMPLES = 3;
const PROGRAM_SAMPLES = 2;

const asked = ({ parts }: Setup, part: (typeof PARTS)[number]): boolean => parts.includes(part);

const versionOf = ({ starts }: PythonRun): string => starts[0]?.version ?? '';

const starts: Section<Setup, PythonRun, 'starts'> = {
  field: 'starts',
  open: (setup) => ({
    rows: [
      {
        name: 'starts, in turns',
        key: { row: 'starts' },
        measure: async () => {
          const { native, cache, only, samples } = setup;
          const rows = asked(setup, 'starts') ? await measureStarts({ native, cache }, only, samples) : [];
          return { version: native.version, rows };
        },
      },
    ],
  }),
  describe: ({ rows }) => rows.map(({ name, times, error }) => `${name}: ${error ?? `${ms(times?.p50)} ms`}`).join('; '),
  outcomes: ({ rows }) =>
    rows.map(({ name, isFloor, error }) => ({
      name,
      total: 1,
      right: error === undefined ? 1 : 0,
      failure: error,
      // A peer that cannot be installed is no failure of Coldframe.
      ...(isFloor && { isAccepted: true }),
    })),
  figures: ({ rows }) => rows.map(({ name, times, isFloor }) => ({ name, statistics: times, isFloor })),
  tables: ({ starts: all }) => all.filter(({ rows }) => rows.length > 0).map(({ rows, version }) => startTable(rows, version)),
  charts: ({ starts: all }) => all.filter(({ rows }) => rows.length > 0).map(({ rows }) => startChart(rows)),
};

const memory: Section<Setup, PythonRun, 'memory'> = {
  field: 'memory',
  open: (setup) => ({
    rows: (asked(setup, 'memory') ? memoryKinds : [])
      .filter(({ name }) => name.includes(setup.only))
      .map((kind) => ({ name: kind.name, key: { row: kind.name }, measure: () => measureMemory(kind, setup.live) })),
  }),
  describe: ({ live, privateKibPerRuntime }) => `${live} live, ${privateKibPerRuntime.toFixed(0)} KiB each`,
  outcomes: ({ kind, live, successRate, failures: [failure] }) => [
    { name: kind, total: 2 * live, right: Math.round(successRate * 2 * live), failure },
  ],
  tables: (run) => [memoryTable(run.memory)],
};

const clones: Section<Setup, PythonRun, 'clones'> = {
  field: 'clones',
  open: (setup) => ({
    rows:
      asked(setup, 'clones') && 'clones'.includes(setup.only)
        ? [{ name: `${setup.clones} clones`, key: { row: 'clones' }, measure: () => measureClones(setup.clones) }]
        : [],
  }),
  describe: ({ cloneMs, answeredMs }) => `clone() ${ms(cloneMs)} ms, all answered after ${ms(answeredMs)} ms`,
  outcomes: ({ count, right }) => [{ name: 'clones', total: count, right }],
  tables: (run) => [cloneTable(run.clones)],
};

const endings: Section<Setup, PythonRun, 'endings'> = {
  field: 'endings',
  open: (setup) => ({
    rows: Object.entries(asked(setup, 'endings') ? endless : {})
      .filter(([name]) => name.includes(setup.only))
      .map(([name, code]) => ({
        name,
        key: { row: name },
        measure: () => measureEnding(name, code, setup.sidecar, ENDING_SAMPLES),
      })),
  }),
  describe: ({ kill, late, interrupt, error }) =>
    error ?? `SIGKILL ${ms(kill?.p50)} ms, timeout ${ms(late?.p50)} ms late, interrupt() ${ms(interrupt?.p50)} ms`,
  outcomes: ({ name, error }) => [{ name, total: 1, right: error === undefined ? 1 : 0, failure: error }],
  figures: ({ name, kill }) => [{ name: `SIGKILL: ${name}`, statistics: kill }],
  tables: (run) => [endingTable(run.endings)],
};

const programs: Section<Setup, PythonRun, 'programs'> = {
  field: 'programs',
  open: (setup) => ({
    rows: (asked(setup, 'programs') ? pythonPrograms() : [])
      .filter(({ name }) => name.includes(setup.only))
      .map((program) => ({
        name: program.name,
        key: { row: program.name },
        measure: () => measureProgram(program, { ...setup, samples: PROGRAM_SAMPLES }),
      })),
  }),
  describe: ({ ratio, error }) => error ?? `sandbox / native ${ratio?.toFixed(2) ?? '–'}`,
  outcomes: ({ name, error }) => [{ name, total: 1, right: error === undefined ? 1 : 0, failure: error }],
  figures: ({ name, box, native }) => [
    { name, statistics: box },
    { name: `${name}, native`, statistics: native, isFloor: true },
  ],
  tables: (run) => [programTable(run.programs, versionOf(run))],
};

export const python: Benchmark<PythonOptions, Setup, PythonRun> = {
  name: 'python',
  schema: 'coldframe-python/1',
  heading: 'Coldframe: Python',
  summary: `Python in the sandbox: starts and evaluations beside floors and Pyodide, memory, clones, the end of programs
that do not end, and the processor time of programs beside the native Python. Needs the image of Python.`,
  options: {
    only: textOption({ name: '--only', placeholder: 'TEXT', help: 'only the rows whose name contains TEXT', fallback: '' }),
    parts: namesOption({ name: '--parts', help: 'only these parts' }, PARTS),
    samples: numberOption({
      name: '--samples',
      placeholder: 'N',
      help: 'samples of each start',
      fallback: 100,
      from: 2,
      to: 10_000,
    }),
    live: numberOption({
      name: '--live',
      placeholder: 'N',
      help: 'live runtimes of the rows of memory',
      fallback: 200,
      from: 1,
      to: 10_000,
    }),
    clones: numberOption({ name: '--clones', placeholder: 'N', help: 'clones of the runner', fallback: 100, from: 1, to: 1_000 }),
    python: textOption({
      name: '--python',
      placeholder: 'PATH',
      help: 'the native interpreter (default: Python 3.13, else python3)',
      fallback: '',
    }),
    cache: textOption({
      name: '--cache',
      placeholder: 'DIR',
      help: 'the folder of the package Pyodide',
      fallback: peerCache(),
    }),
  },
  floorSamples: () => 0,
  open: async (options) => {
    const sidecar = await Sidecar.spawn();
    return { setup: { ...options, native: findNative(options.python), sidecar }, close: () => sidecar.dispose() };
  },
  facts: (run) => ({ nativeVersion: versionOf(run), meanRatio: meanRatio(run.programs) ?? null }),
  sections: [starts, memory, clones, endings, programs],
};
