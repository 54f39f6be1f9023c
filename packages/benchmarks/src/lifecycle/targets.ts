// The promises of the lifecycle, each with the figure of this run. The numbers are those of `docs/specification.md`; a test holds the two against each other.
//
// All are medians of wall times. Clones are measured as the field does, with 10 MB written by the source; a fresh source stands beside it.

import { judge, type TargetResult, target } from '../report/judge.js';
import { failed } from '../report/report.js';
import { SWEEP } from './plan.js';
import type { LifecycleMeasurements } from './report.js';
import { atOnce, slowest, type Which, wallOf, worst } from './select.js';

export function judgeLifecycle({ rows, soak }: LifecycleMeasurements): TargetResult[] {
  const p50 = (which: Which) => wallOf(rows, which)?.p50;
  const each = (which: Which) => {
    const wall = p50(which);
    return wall === undefined ? undefined : wall / (which.n ?? 1);
  };
  const total = rows.reduce((sum, { runs }) => sum + runs.total, 0);
  const right = rows.reduce((sum, { runs }) => sum + runs.right, 0);
  const life = soak && !failed(soak) ? soak : undefined;
  const answers = SWEEP.map((megabytes) => p50({ operation: 'snapshot', measure: 'answer', megabytes }));
  const drafts = [
    target('C1', 'snapshot, fresh', 2, 'ms', p50({ operation: 'snapshot', measure: 'snapshot' })),
    target('C2', 'snapshot, 100 MB dirty', 25, 'ms', p50({ operation: 'snapshot', measure: 'snapshot', megabytes: 100 })),
    target('C3', 'snapshot, 1,024 MB dirty', 250, 'ms', p50({ operation: 'snapshot', measure: 'snapshot', megabytes: 1_024 })),
    target('C4', 'create from a snapshot to the first answer, slowest size of the sweep', 1.5, 'ms', worst(answers)),
    target('C5', 'rollback, fresh', 1, 'ms', p50({ operation: 'rollback', measure: 'rollback' })),
    target('C6', 'rollback, 100 MB dirty', 3, 'ms', p50({ operation: 'rollback', measure: 'rollback', megabytes: 100 })),
    target('C7', 'clone, fresh source', 2, 'ms', p50({ operation: 'clone', measure: 'clone' })),
    target('C8', 'clone, source with 10 MB dirty', 2, 'ms', p50({ operation: 'clone', measure: 'clone', megabytes: 10 })),
    target('C9', 'each of 100 clones, fresh source', 0.05, 'ms', each({ operation: 'clone', measure: 'clone', n: 100 })),
    target(
      'C10',
      'each of 100 clones, source with 10 MB dirty',
      0.05,
      'ms',
      each({ operation: 'clone', measure: 'clone', n: 100, megabytes: 10 }),
    ),
    target('C11', 'pause, fresh', 10, 'ms', p50({ operation: 'pause', measure: 'pause' })),
    target('C12', 'resume to the first answer, fresh', 1.5, 'ms', p50({ operation: 'pause', measure: 'answer' })),
    target(
      'C13',
      'spawn 100 from a warm parent, all answered',
      60,
      'ms',
      p50({ operation: 'spawn', measure: 'total', n: 100, way: 'clone' }),
    ),
    target('C14', 'ten at once against one, slowest operation', 6, '×', worst(atOnce(rows).map(({ ratio }) => ratio))),
    target('C15', 'slowest single operation of all rows', 1_000, 'ms', slowest(rows)),
    { ...target('C16', 'right, all rows', 100, '%', total === 0 ? undefined : (100 * right) / total), atLeast: true },
    target(
      'C17',
      'left behind by the soak: runtimes, processes, descriptors, files',
      0,
      '',
      life && sum([life.left.runtimes, life.left.processes, life.left.descriptors, life.left.files]),
    ),
    target('C18', 'growth of memory in the soak', 2_048, 'KiB', life?.grownKib),
    { ...target('C19', 'right cycles of the soak', 100, '%', life && life.successRate * 100), atLeast: true },
  ];
  return drafts.map(judge);
}

/** What became less counts for nothing: it must not hide what became more. */
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + Math.max(0, value), 0);
