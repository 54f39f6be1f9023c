// Rolls n runtimes back at once, each to its own snapshot, after the state of each runtime has
// changed. A published script includes the writing in its time. In this row the time of the writing
// is a fact beside the times.

import { evaluateRight, evaluationProblem, type MeasuredSnapshot } from '../../sandbox/runtime.js';
import { now } from '../../statistics/timer.js';
import { startTogether } from '../../suite/concurrency.js';
import {
  deleteSnapshots,
  disposeAll,
  type Operation,
  prepareRuntimes,
  type RowSidecar,
  type Shape,
  sizes,
} from '../operation.js';
import { type Round, RoundRecord } from '../round.js';
import { changeSecret, stateQuestion, writeMegabytes } from '../state.js';

export const rollback: Operation = {
  sizes: sizes([1, 0], [5, 0], [10, 0], [1, 100], [5, 100], [10, 100]),
  quickSizes: sizes([2, 1]),
  targets: [
    { promise: 'C5', what: 'rollback, fresh', atMost: 1, measure: 'rollback', rows: [{}] },
    { promise: 'C6', what: 'rollback, 100 MB dirty', atMost: 3, measure: 'rollback', rows: [{ megabytes: 100 }] },
  ],
  tenAgainstOne: ['rollback'],
  lines: [{ name: 'rollback', measure: 'rollback' }],
  open: async (row, shape) => ({ round: () => round(row, shape) }),
};

async function round({ sidecar }: RowSidecar, { n, megabytes }: Shape): Promise<Round> {
  const record = new RoundRecord(n);
  const prepared = await prepareRuntimes(sidecar, n, 0, { megabytes });
  const snapshots: MeasuredSnapshot[] = [];
  for (const { runtime } of prepared) snapshots.push(await runtime.snapshot('memory'));
  const from = now();
  for (const { runtime, state } of prepared) {
    await evaluateRight(runtime, changeSecret(state, state.secret + 1));
    if (megabytes > 0) await evaluateRight(runtime, writeMegabytes({ ...state }, megabytes));
  }
  record.facts['write ms'] = (now() - from) / n;
  record.add(
    await startTogether(n, async (index, mark) => {
      const snapshot = snapshots[index];
      if (snapshot) await prepared[index]?.runtime.rollback(snapshot);
      mark('rollback');
    }),
  );
  // The reply proves that the runtime has the state of the snapshot.
  record.add(
    await startTogether(n, async (index, mark) => {
      const { runtime, state } = prepared[index] ?? {};
      if (!runtime || !state || record.hasFailed(index)) return;
      const problem = await evaluationProblem(runtime, stateQuestion(state));
      mark('first answer');
      if (problem !== undefined) throw new Error(`rolled back: ${problem}`);
    }),
  );
  await disposeAll(
    prepared.map(({ runtime }) => runtime),
    record,
  );
  await deleteSnapshots(sidecar, snapshots, record);
  return record.end();
}
