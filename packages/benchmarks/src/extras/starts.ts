// Starts that the matrix has no rows for: a program that imports a module from a file, so that Node's own loader resolves, reads and links it, and
// starts that find no prepared slot.
//
// Each start is create, one checked snippet, and disposal outside the clock, one after the other. For an empty pool each start is preceded by a
// resident runner, which takes the slot that the start before it gave back and keeps it. Next: `start-hosts.ts`, which opens the real ones.

import { withDeadline } from '../matrix/deadline.js';
import type { Instance } from '../scenarios/adapter.js';
import { makeSnippet, type Snippet, whatIsWrong } from '../scenarios/snippet.js';
import { type Statistics, summarize } from '../stats/statistics.js';
import { now } from '../stats/timer.js';

export interface StartHost {
  /** Creates what runs one program; `files` are in its filesystem, by path. */
  start(files: Readonly<Record<string, string>>): Promise<Instance>;
  /** Takes a prepared slot away for as long as the host is open. */
  holdSlot(): Promise<void>;
  close(): Promise<void>;
}

export interface StartKind {
  name: string;
  what: string;
  imports: boolean;
  emptyPool: boolean;
  open(): Promise<StartHost>;
}

export interface StartsResult {
  kind: string;
  what: string;
  coldMs: Statistics | null;
  samples: number[];
  successRate: number;
  failures: string[];
}

const HANG_MS = 20_000;
const WARMUP = 5;
const MODULE_PATH = '/workspace/factor.mjs';

/** The snippet, with its second factor taken out into a module. */
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
  const samples: number[] = [];
  const failures: string[] = [];
  const host = await withDeadline(`opening ${kind.name}`, HANG_MS, kind.open());
  try {
    for (let round = -WARMUP; round < count; round++) {
      const result = await withDeadline(kind.name, HANG_MS, startOnce(host, kind).catch(String));
      if (round < 0) continue;
      if (typeof result === 'string') failures.push(result);
      else samples.push(result);
    }
  } finally {
    await withDeadline(`closing ${kind.name}`, HANG_MS, host.close());
  }
  const { name, what } = kind;
  return {
    kind: name,
    what,
    coldMs: summarize(samples),
    samples,
    successRate: samples.length / count,
    failures: failures.slice(0, 10),
  };
}

/** Milliseconds, or what was wrong. */
async function startOnce(host: StartHost, kind: StartKind): Promise<number | string> {
  const snippet = makeSnippet();
  const { code, files } = kind.imports ? withImport(snippet) : { code: snippet.code, files: {} };
  if (kind.emptyPool) await host.holdSlot();
  const startedAt = now();
  const instance = await host.start(files);
  try {
    const result = await instance.exec(code);
    const coldMs = now() - startedAt;
    return whatIsWrong(snippet, result) ?? coldMs;
  } finally {
    await instance.dispose();
  }
}
