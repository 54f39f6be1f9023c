// The neighbour benchmark: the calls of a runtime beside hostile programs, and the slowest single
// calls that a random search finds in a guest.
//
// Both sections report. The programs are in `hostile/`, and the searched calls in `calls/`. Next:
// `pressure.ts` and `calls/search.ts` for the measurements.

import { Sidecar } from 'coldframe';
import type { Benchmark, Section } from '../suite/benchmark.js';
import { namesOption, numberOption, textOption } from '../suite/options.js';
import { ms } from '../suite/text.js';
import { families } from './calls/families.js';
import { type CallResult, searchCalls } from './calls/search.js';
import { callTable, pressureChart, pressureTable } from './figures.js';
import { hostilePrograms } from './hostile/index.js';
import { measurePressure, type PressureResult } from './pressure.js';

const SECTIONS = ['programs', 'calls'] as const;
type SectionName = (typeof SECTIONS)[number];

export type NeighbourOptions = {
  only: string;
  sections: readonly SectionName[];
  copies: number;
  measureMs: number;
  searchMs: number;
  seed: number;
  quick: boolean;
};

export type NeighbourRun = { programs: PressureResult[]; calls: CallResult[] };

/** Runs `work` with a sidecar of its own, so that a row leaves nothing for the next row. */
async function withSidecar<Result>(work: (sidecar: Sidecar) => Promise<Result>): Promise<Result> {
  const sidecar = await Sidecar.spawn();
  try {
    return await work(sidecar);
  } finally {
    await sidecar.dispose();
  }
}

const programs: Section<NeighbourOptions, NeighbourRun, 'programs'> = {
  field: 'programs',
  open: ({ only, sections, copies, measureMs, quick }) => ({
    rows: hostilePrograms
      .filter(({ name, isQuick }) => sections.includes('programs') && name.includes(only) && (!quick || isQuick))
      .map((program) => ({
        name: program.name,
        key: { row: program.name },
        measure: () => withSidecar((sidecar) => measurePressure(sidecar, program, { copies, measureMs })),
      })),
  }),
  describe: ({ exec, ping, ended }) =>
    `exec p50 ${ms(exec?.p50)}, p99 ${ms(exec?.p99)},
ping p99 ${ms(ping?.p99)} ms${ended ? `; a program ended: ${ended.slice(-80)}` : ''}`,
  outcomes: ({ name, runs, ended }) => [
    {
      name,
      total: runs.total,
      right: runs.right,
      failure: Object.keys(runs.failures)[0],
      notes: ended === undefined ? [] : [`a program ended: ${ended}`],
    },
  ],
  figures: ({ name, exec, ping }) => [
    { name: `${name}, exec`, statistics: exec },
    { name: `${name}, ping`, statistics: ping },
  ],
  tables: (run) => [pressureTable(run.programs)],
  charts: (run) => [pressureChart(run.programs)],
};

const calls: Section<NeighbourOptions, NeighbourRun, 'calls'> = {
  field: 'calls',
  open: ({ only, sections, searchMs, seed, quick }) => ({
    rows: families
      .filter(({ name }) => sections.includes('calls') && name.includes(only) && !quick)
      .map((family) => ({
        name: family.name,
        key: { row: family.name },
        measure: () => withSidecar((sidecar) => searchCalls(sidecar, family, { searchMs, seed })),
      })),
  }),
  describe: ({ tries, worstMs, parameters }) => `${ms(worstMs)} ms in ${tries} tries: ${JSON.stringify(parameters)}`,
  outcomes: ({ name }) => [{ name, total: 1, right: 1 }],
  tables: (run) => [callTable(run.calls)],
};

export const neighbour: Benchmark<NeighbourOptions, NeighbourOptions, NeighbourRun> = {
  name: 'neighbour',
  schema: 'coldframe-neighbour/1',
  heading: 'Coldframe: a neighbour of hostile programs',
  summary: `exec and ping of a runtime beside several copies of each hostile program in one sidecar; then the slowest
single calls of a guest, found by a random search. The short form has ten programs and no search.`,
  options: {
    only: textOption({ name: '--only', placeholder: 'TEXT', help: 'only the rows whose name contains TEXT', fallback: '' }),
    sections: namesOption({ name: '--sections', help: 'programs beside a neighbour, and the search of calls' }, SECTIONS),
    copies: numberOption({
      name: '--copies',
      placeholder: 'N',
      help: 'runtimes with the hostile program',
      fallback: 4,
      from: 1,
      to: 64,
    }),
    measureMs: numberOption({
      name: '--measure',
      placeholder: 'MS',
      help: 'time of each measurement beside a program',
      fallback: 4_000,
      quick: 2_000,
      from: 100,
      to: 600_000,
    }),
    searchMs: numberOption({
      name: '--search',
      placeholder: 'MS',
      help: 'time of the search in each family of calls',
      fallback: 6_000,
      from: 100,
      to: 3_600_000,
    }),
    seed: numberOption({ name: '--seed', placeholder: 'N', help: 'seed of the search', fallback: 1, from: 1, to: 2_147_483_647 }),
  },
  hasQuickForm: true,
  floorSamples: () => 0,
  open: (options) => ({ setup: options }),
  sections: [programs, calls],
};
