// Clones a runtime that stays alive. The time includes the snapshot. Every clone, and then the
// source, must report the source's state.

import { evaluateRight, evaluationProblem } from '../../sandbox/runtime.js';
import { now } from '../../statistics/timer.js';
import { startTogether } from '../../suite/concurrency.js';
import { reason } from '../../suite/failures.js';
import { checkMemory, disposeAll, type Operation, prepareRuntime, type RowSidecar, type Shape, sizes } from '../operation.js';
import { type Round, RoundRecord } from '../round.js';
import { stateQuestion } from '../state.js';

export const clone: Operation = {
  // The source of published clones has written 10 MB. A fresh source is measured too.
  sizes: sizes([1, 10], [10, 10], [20, 10], [100, 10], [1, 0], [10, 0], [20, 0], [100, 0]),
  quickSizes: sizes([3, 1]),
  targets: [
    { promise: 'C7', what: 'clone, fresh source', atMost: 2, measure: 'clone', rows: [{}] },
    { promise: 'C8', what: 'clone, source with 10 MB dirty', atMost: 2, measure: 'clone', rows: [{ megabytes: 10 }] },
    {
      promise: 'C9',
      what: 'each of 100 clones, fresh source',
      atMost: 0.05,
      measure: 'clone',
      rows: [{ n: 100 }],
      each: true,
    },
    {
      promise: 'C10',
      what: 'each of 100 clones, source with 10 MB dirty',
      atMost: 0.05,
      measure: 'clone',
      rows: [{ n: 100, megabytes: 10 }],
      each: true,
    },
  ],
  tenAgainstOne: ['clone'],
  lines: [{ name: 'clone', measure: 'clone' }],
  open: async (row, shape) => ({ round: () => round(row, shape) }),
};

async function round({ sidecar }: RowSidecar, { n, megabytes }: Shape): Promise<Round> {
  const record = new RoundRecord(n);
  const { runtime, state } = await prepareRuntime(sidecar, megabytes);
  try {
    const from = now();
    const clones = await runtime.clone(n);
    record.time('clone', now() - from);
    if (clones.length !== n) record.failAll(`${clones.length} clones instead of ${n}`);
    record.add(
      await startTogether(n, async (index, mark) => {
        const copy = clones[index];
        if (!copy) return;
        const problem = await evaluationProblem(copy, stateQuestion(state));
        mark('first answer');
        if (problem !== undefined) throw new Error(problem);
      }),
    );
    await checkMemory(clones, () => state, record);
    await disposeAll(clones, record);
    await evaluateRight(runtime, stateQuestion(state)).catch((error) =>
      record.failAll(`source after the clone: ${reason(error)}`),
    );
  } finally {
    await runtime.dispose();
  }
  return record.end();
}
