// The tables of the lifecycle benchmark: operations, facts, ten runtimes against one, the soak, and
// published figures.

import { type PublishedOperation, publishedLifecycle } from '../published/lifecycle.js';
import { figure, type Table, table, time, times, words } from '../suite/table.js';
import { ms, percentage } from '../suite/text.js';
import { tenAgainstOne, wallP50 } from './figures.js';
import type { OperationName } from './operations/index.js';
import { dirtyText } from './plan.js';
import type { LifecycleRow, Measure } from './row.js';
import type { SoakResult } from './soak.js';

export function operationTable(rows: readonly LifecycleRow[]): Table {
  const lines = rows.flatMap((row) => {
    // A row in which all rounds failed has no measures. The table shows a line for this row too.
    const measures = Object.entries<Measure | undefined>(row.measures);
    return (measures.length > 0 ? measures : [['–', undefined] as const]).map(([name, measure]) => ({ row, name, measure }));
  });
  type Line = (typeof lines)[number];
  return table('Operations (ms)', lines, [
    words('operation', ({ row }) => row.operation),
    words('state', ({ row }) => row.variant),
    words('measure', ({ name }) => name),
    figure('n', ({ row }) => row.n),
    figure('rounds', ({ row }) => row.rounds),
    ...times(['wall p50', 'p95', 'max', 'MAD'], ({ measure }: Line) => measure?.wall),
    time('wall / n', ({ measure }) => measure?.per?.p50),
    ...times(['each p50', 'p95', 'max'], ({ measure }: Line) => measure?.each),
    figure('right', ({ row }) => percentage(row.runs.successRate)),
  ]);
}

export function factTable(rows: readonly LifecycleRow[]): Table {
  const lines = rows.flatMap((row) => Object.entries(row.facts).map(([name, statistics]) => ({ row, name, statistics })));
  type Line = (typeof lines)[number];
  return table('Facts beside the times', lines, [
    words('operation', ({ row }) => row.operation),
    words('state', ({ row }) => row.variant),
    figure('n', ({ row }) => row.n),
    words('fact', ({ name }) => name),
    ...times(['p50', 'max'], ({ statistics }: Line) => statistics),
  ]);
}

export const tenTable = (rows: readonly LifecycleRow[]): Table =>
  table(
    'Ten at once against one (wall p50, ms)',
    tenAgainstOne(rows).filter(({ ratio }) => ratio !== undefined),
    [
      words('operation', ({ name }) => name),
      time('one', ({ one }) => one),
      time('ten', ({ ten }) => ten),
      figure('ten / one', ({ ratio }) => ratio?.toFixed(2)),
    ],
  );

export const soakTable = (soak: SoakResult): Table =>
  table(
    'Soak: create from a snapshot, answer, dispose; what was left behind',
    [soak],
    [
      figure('cycles', ({ cycles }) => cycles),
      time('cycle p50 ms', ({ cycleMs }) => cycleMs?.p50),
      figure('by quarter', ({ quarters }) => quarters.map(ms).join(' ')),
      figure('runtimes', ({ left }) => left.runtimes),
      figure('processes', ({ left }) => left.processes),
      figure('descriptors', ({ left }) => left.descriptors),
      figure('files', ({ left }) => left.files),
      figure('mappings', ({ left }) => left.mappings),
      figure('KiB', ({ grownKib }) => grownKib),
      figure('RSS MiB', ({ before, after }) => `${(before.rssKib / 1024).toFixed(1)} → ${(after.rssKib / 1024).toFixed(1)}`),
      figure('right', ({ successRate }) => percentage(successRate)),
    ],
  );

/** Shows published figures of the operations that the run contains. */
export const publishedTable = (rows: readonly LifecycleRow[]): Table =>
  table(
    'Published by others, beside ours (wall, ms): other machines, other classes of isolation',
    publishedLifecycle
      .filter(({ operation }) => rows.some((row) => row.operation === operation))
      .map((theirs) => ({ theirs, ours: oursBeside(rows, theirs) })),
    [
      words('operation', ({ theirs }) => theirs.operation),
      words('state', ({ theirs }) => (theirs.megabytes === undefined ? '–' : dirtyText(theirs.megabytes))),
      words('measure', ({ theirs }) => theirs.measure),
      figure('n', ({ theirs }) => theirs.n),
      time('theirs', ({ theirs }) => theirs.ms),
      words('is', ({ theirs }) => theirs.is),
      time('ours p50', ({ ours }) => ours),
      figure('theirs / ours', ({ theirs, ours }) => (ours ? `${(theirs.ms / ours).toPrecision(3)} ×` : undefined)),
      words('system', ({ theirs }) => theirs.system),
      words('isolation', ({ theirs }) => theirs.isolation),
      words('machine', ({ theirs }) => theirs.rig),
      words('note', ({ theirs }) => theirs.note ?? ''),
    ],
  );

/**
 * Returns the figure of a run for a published operation, number of runtimes and size. A published
 * figure without a size is compared with fresh runtimes. A published creation is always compared
 * with a time that includes the reply.
 */
function oursBeside(rows: readonly LifecycleRow[], { operation, measure, n, megabytes = 0 }: PublishedOperation) {
  return wallP50(rows, {
    operation: operation as OperationName,
    measure: measure === 'create' || measure === 'resume' ? 'answer' : measure,
    n,
    megabytes,
    ...(operation === 'spawn' && { way: 'clone' }),
  });
}
