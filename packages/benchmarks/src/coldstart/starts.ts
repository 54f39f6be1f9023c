// Measures kinds of starts that are not in the matrix. In some kinds the program imports a module
// from a file, which Node's own loader resolves, reads and links. In other kinds no warm slot is
// left.
//
// A start is a creation, one checked snippet, and a disposal outside the clock. Starts run one
// after the other. In the kinds with an empty pool, a resident runner is created before each start.
// The runner takes and keeps the slot that the previous start released. A new kind needs an entry
// in `startKinds`.

import { NodeRuntime } from 'coldframe';
import { type Executor, executorOf } from '../sandbox/executor.js';
import { type OpenSdkSidecar, openEmbedded, openEmbeddedInline, spawnShared } from '../sandbox/sidecars.js';
import { makeSnippet, problemOf, type Snippet } from '../sandbox/snippet.js';
import { type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import type { Section } from '../suite/benchmark.js';
import { withDeadline } from '../suite/deadline.js';
import { runRounds } from '../suite/rounds.js';
import type { Recorded } from '../suite/run.js';
import { resultsIn } from '../suite/run.js';
import { ms, percentage } from '../suite/text.js';

export interface StartProvisioner {
  /** Creates a runtime with `files`, by their path in the guest. */
  start(files: Readonly<Record<string, string>>): Promise<Executor>;
  /** Uses a warm slot until the provisioner is closed. */
  holdSlot(): Promise<void>;
  close(): Promise<void>;
}

export interface StartKind {
  name: string;
  what: string;
  /** Whether the program imports a module from a file. */
  imports: boolean;
  emptyPool: boolean;
  target?: { promise: string; what: string; atMost: number };
  open(): Promise<StartProvisioner>;
}

export interface StartsResult {
  kind: string;
  what: string;
  coldMs: Statistics | null;
  samples: number[];
  successRate: number;
  failures: string[];
}

export type StartsRun = { starts: Recorded<StartsResult>[] };

const STARTS = 100;
const WARMUP = 5;
const HANG_MS = 20_000;
const FAILURES = 10;
const MODULE_PATH = '/workspace/factor.mjs';

const provisionIn = (openSidecar: OpenSdkSidecar) => async (): Promise<StartProvisioner> => {
  const sidecar = await openSidecar();
  return {
    start: async (files) => executorOf(await NodeRuntime.create({ sidecar, files })),
    holdSlot: async () => {
      const runtime = await NodeRuntime.create({ sidecar });
      await (await runtime.createResidentRunner()).exec('');
    },
    close: () => sidecar.dispose(),
  };
};

const [shared, embedded, inline] = [spawnShared, openEmbedded, openEmbeddedInline].map(provisionIn) as [
  StartKind['open'],
  StartKind['open'],
  StartKind['open'],
];

const plain = { what: 'an ES module without imports', imports: false, emptyPool: false };
const importing = { what: "an ES module that imports a file through Node's loader", imports: true, emptyPool: false };

const startKinds: readonly StartKind[] = [
  { name: 'shared', ...plain, open: shared },
  {
    name: 'shared, with an import',
    ...importing,
    target: { promise: 'S14', what: "shared cold, with an import through Node's loader", atMost: 0.2 },
    open: shared,
  },
  {
    name: 'shared, empty pool',
    ...plain,
    emptyPool: true,
    target: { promise: 'S13', what: 'shared cold, empty pool', atMost: 0.8 },
    open: shared,
  },
  {
    name: 'shared, with an import, empty pool',
    ...importing,
    emptyPool: true,
    target: { promise: 'S15', what: 'shared cold, with an import, empty pool', atMost: 0.8 },
    open: shared,
  },
  {
    name: 'embedded, with an import',
    ...importing,
    target: { promise: 'S16', what: 'embedded cold, with an import', atMost: 0.2 },
    open: embedded,
  },
  {
    name: 'embedded inline, with an import',
    ...importing,
    target: { promise: 'S17', what: 'embedded inline cold, with an import', atMost: 0.12 },
    open: inline,
  },
];

export const START_KINDS = startKinds.map(({ name }) => name);

/** Returns the snippet with its second factor moved into a module, which the snippet imports. */
function withImport(snippet: Snippet): { code: string; files: Record<string, string> } {
  const match = /^(console\.log\('\w+', )(\d+)( .*)$/.exec(snippet.code);
  if (!match) throw new Error(`expected a snippet that prints a product, got ${snippet.code}`);
  const [, head, factor, tail] = match;
  return {
    code: `import { factor } from '${MODULE_PATH}';\n${head}factor${tail}`,
    files: { [MODULE_PATH]: `export const factor = ${factor};\n` },
  };
}

export async function measureStarts(kind: StartKind, count: number): Promise<StartsResult> {
  const { name, what } = kind;
  const samples: number[] = [];
  const failures: string[] = [];
  const provisioner = await withDeadline(`opening ${name}`, HANG_MS, kind.open());
  try {
    await runRounds({ warmup: WARMUP, rounds: count }, async (isWarmup) => {
      const result = await withDeadline(name, HANG_MS, startOnce(provisioner, kind).catch(String));
      if (isWarmup) return;
      if (typeof result === 'string') failures.push(result);
      else samples.push(result);
    });
  } finally {
    await withDeadline(`closing ${name}`, HANG_MS, provisioner.close());
  }
  return {
    kind: name,
    what,
    coldMs: summarize(samples),
    samples,
    successRate: samples.length / count,
    failures: failures.slice(0, FAILURES),
  };
}

/** Makes one start. Resolves with its milliseconds, or with the problem of its run. */
async function startOnce(provisioner: StartProvisioner, kind: StartKind): Promise<number | string> {
  const snippet = makeSnippet();
  const { code, files } = kind.imports ? withImport(snippet) : { code: snippet.code, files: {} };
  if (kind.emptyPool) await provisioner.holdSlot();
  const startedAt = now();
  const executor = await provisioner.start(files);
  try {
    const result = await executor.exec(code);
    const coldMs = now() - startedAt;
    return problemOf(snippet, result) ?? coldMs;
  } finally {
    await executor.dispose();
  }
}

/** Returns the median of the starts of a kind, or `undefined` if a start was wrong. */
const startsP50 = ({ starts: all }: StartsRun, kind: string): number | undefined =>
  resultsIn(all).find((row) => row.kind === kind && row.successRate === 1)?.coldMs?.p50;

export const starts: Section<unknown, StartsRun, 'starts'> = {
  field: 'starts',
  recordsFailures: true,
  open: () => ({
    rows: startKinds.map((kind) => ({
      name: `starts: ${kind.name}`,
      key: { row: `starts: ${kind.name}` },
      measure: () => measureStarts(kind, STARTS),
    })),
  }),
  describe: ({ coldMs, successRate }) => `cold p50 ${ms(coldMs?.p50)} ms, right ${percentage(successRate)}`,
  outcomes: ({ kind, samples, successRate, failures: [failure] }) => [
    {
      name: `starts: ${kind}`,
      total: successRate === 0 ? STARTS : Math.round(samples.length / successRate),
      right: samples.length,
      failure,
    },
  ],
  targets: startKinds.flatMap(({ name, target }) =>
    target ? [{ ...target, unit: 'ms' as const, measured: (run: StartsRun) => startsP50(run, name) }] : [],
  ),
};
