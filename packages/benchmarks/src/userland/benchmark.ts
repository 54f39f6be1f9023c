// The userland benchmark: the cost of Node's library in the sandbox, as ratios to the pinned Node.
//
// Every row runs first in the pinned Node and then in the sandbox. A time counts only if the two
// runs computed equal values. Next: `rows.ts` for the rows.

import { ratioOf, type Statistics, scale, summarize } from '../statistics/statistics.js';
import type { Benchmark, Section } from '../suite/benchmark.js';
import { textOption } from '../suite/options.js';
import { figure, type Table, table, times, words } from '../suite/table.js';
import { makeProgram, type ProgramOutput, type SampleShape } from './program.js';
import { ENGINE_CALL, HOST_CALL, type UserlandRow, userlandRows } from './rows.js';
import { openNode, openSandbox, type Side } from './sides.js';

export type UserlandOptions = { only: string };

/** One result in the JSON. */
export interface UserlandResult {
  name: string;
  /**
   * Milliseconds per operation. `null` if a run failed or if the sandbox and Node computed
   * different values.
   */
  sandbox: Statistics | null;
  node: Statistics | null;
  /** Ratio of the medians, sandbox over Node. */
  ratio: number | null;
  /** The reason why the row has no ratio. */
  error?: string;
}

export type UserlandRun = { results: UserlandResult[] };

export interface UserlandSetup {
  rows: readonly UserlandRow[];
  sides: { sandbox: Side; node: Side };
  shape: SampleShape;
}

const SHAPE: SampleShape = { samples: 15, sampleMs: 10 };
const MICROSECONDS = 1_000;

async function measureRow(row: UserlandRow, { sides, shape }: UserlandSetup): Promise<UserlandResult> {
  const { name } = row;
  try {
    const program = makeProgram(row, shape);
    const node = await outputOf(sides.node, program);
    const sandbox = await outputOf(sides.sandbox, program);
    if (sandbox.check !== node.check) throw new Error(`the sandbox computed ${cut(sandbox.check)}, Node ${cut(node.check)}`);
    const statistics = { sandbox: summarize(sandbox.samples), node: summarize(node.samples) };
    return { name, ...statistics, ratio: ratioOf(statistics.sandbox?.p50, statistics.node?.p50) ?? null };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { name, sandbox: null, node: null, ratio: null, error: why };
  }
}

const cut = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

async function outputOf(side: Side, program: string): Promise<ProgramOutput> {
  let stdout: string;
  try {
    stdout = await side.run(program);
  } catch (error) {
    throw new Error(`${side.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return JSON.parse(stdout) as ProgramOutput;
}

/**
 * Returns the additional microseconds of a call to the kernel, compared with a call that ends in
 * the engine.
 */
function hostCallUs({ results }: UserlandRun): number | null {
  const p50 = (name: string) => results.find((result) => result.name === name)?.sandbox?.p50;
  const [host, engine] = [p50(HOST_CALL), p50(ENGINE_CALL)];
  return host === undefined || engine === undefined ? null : (host - engine) * MICROSECONDS;
}

const section: Section<UserlandSetup, UserlandRun, 'results'> = {
  field: 'results',
  open: (setup) => ({
    rows: setup.rows.map((row) => ({ name: row.name, key: { row: row.name }, measure: () => measureRow(row, setup) })),
  }),
  describe: ({ ratio, error }) => error ?? `sandbox / Node ${ratio?.toFixed(2) ?? '–'}`,
  outcomes: ({ name, error }) => [{ name, total: 1, right: error === undefined ? 1 : 0, failure: error }],
  figures: ({ name, sandbox, node }) => [
    { name, statistics: sandbox },
    { name: `${name}, Node`, statistics: node, isFloor: true },
  ],
  tables: (run) => [resultTable(run)],
};

function resultTable(run: UserlandRun): Table {
  const inMicroseconds = (statistics: Statistics | null) => statistics && scale(statistics, MICROSECONDS);
  const lines = run.results.map(({ name, sandbox, node, ratio }) => ({
    name,
    sandbox: inMicroseconds(sandbox),
    node: inMicroseconds(node),
    ratio: ratio?.toFixed(2) ?? 'failed',
  }));
  type Line = (typeof lines)[number];
  const hostCall = hostCallUs(run);
  const title = hostCall === null ? '' : `; a call to the host costs ${hostCall.toFixed(2)} µs beyond a call of the engine`;
  return table(`Node's library (µs per operation)${title}`, lines, [
    words('operation', ({ name }) => name),
    ...times(['Node p50'], ({ node }: Line) => node),
    ...times(['sandbox p50', 'MAD'], ({ sandbox }: Line) => sandbox),
    figure('sandbox / Node', ({ ratio }) => ratio),
  ]);
}

export const userland: Benchmark<UserlandOptions, UserlandSetup, UserlandRun> = {
  name: 'userland',
  schema: 'coldframe-userland/1',
  heading: "Coldframe: Node's library",
  summary: `URL parsing, Buffer codecs, JSON, hashing, compression, streams, events, files and loopback HTTP: the sandbox
and the pinned Node, row by row in turns.`,
  options: {
    only: textOption({ name: '--only', placeholder: 'TEXT', help: 'only the rows whose name contains TEXT', fallback: '' }),
  },
  floorSamples: () => 0,
  open: async ({ only }) => {
    const sides = { sandbox: await openSandbox(), node: openNode() };
    const rows = userlandRows.filter(({ name }) => name.includes(only));
    return { setup: { rows, sides, shape: SHAPE }, close: () => sides.sandbox.close() };
  },
  facts: (run) => ({
    hostCallUs: hostCallUs(run),
    runs: { right: run.results.filter(({ error }) => error === undefined).length, total: run.results.length },
  }),
  sections: [section],
};
