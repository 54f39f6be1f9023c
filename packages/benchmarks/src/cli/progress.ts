// Progress on stderr: one line per step with the time that is left. stdout belongs to the JSON.

import type { MatrixEvents, SkippedRow } from '../matrix/matrix.js';
import type { RowPlan } from '../matrix/plan.js';
import type { RowResult } from '../matrix/result.js';
import { ms, percentage, seconds } from '../report/format.js';

export type Say = (line: string) => void;

export const toStderr: Say = (line) => process.stderr.write(`${line}\n`);

export function matrixProgress(total: number, say: Say): MatrixEvents {
  let head = '';
  return {
    rowStarts(row: RowPlan, index: number, etaMs: number) {
      const place = `[${String(index + 1).padStart(String(total).length)}/${total}]`;
      head = `${place} ETA ${seconds(etaMs).padStart(10)}  ${row.scenario.padEnd(15)} ${row.mode.padEnd(10)} ${String(row.batchSize).padStart(4)}`;
    },
    rowEnds(_row: RowPlan, result: RowResult | SkippedRow) {
      say(`${head}  ${'reason' in result ? `skipped: ${result.reason}` : describe(result)}`);
    },
  };
}

function describe({ coldStart, warmStart, iterations, runs, notes }: RowResult): string {
  const figures = `cold p50 ${ms(coldStart?.p50)} ms, warm p50 ${ms(warmStart?.p50)} ms, right ${percentage(runs.successRate)}`;
  return [`× ${iterations}: ${figures}`, ...notes].join('; ');
}
