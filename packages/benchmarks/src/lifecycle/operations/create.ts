// Restores n runtimes from one snapshot at once. One time ends when the runtimes exist (`create`),
// another when the live runner in each runtime has replied (`answer`).

import { evaluationProblem, type MeasuredRuntime, type MeasuredSidecar, type MeasuredSnapshot } from '../../sandbox/runtime.js';
import { startTogether } from '../../suite/concurrency.js';
import { checkMemory, disposeAll, type Operation, prepareRuntime, type Shape, sizes } from '../operation.js';
import { type Round, RoundRecord } from '../round.js';
import { type State, stateQuestion } from '../state.js';
import { checkCopy } from './snapshot.js';

export const create: Operation = {
  sizes: sizes([1, 0], [10, 0], [20, 0], [50, 0], [100, 0], [10, 100]),
  quickSizes: sizes([3, 0]),
  targets: [],
  tenAgainstOne: ['answer'],
  lines: [{ name: 'create, answered', measure: 'answer' }],
  open: async ({ sidecar }, shape) => {
    const { runtime, state } = await prepareRuntime(sidecar, shape.megabytes);
    const snapshot = await runtime.snapshot('memory');
    await runtime.dispose();
    // The first restore of a snapshot is not measured.
    await checkCopy(sidecar, snapshot, state);
    return { round: () => round(sidecar, snapshot, state, shape), close: () => sidecar.deleteSnapshot(snapshot) };
  },
};

async function round(sidecar: MeasuredSidecar, snapshot: MeasuredSnapshot, state: State, { n }: Shape): Promise<Round> {
  const record = new RoundRecord(n);
  const runtimes: MeasuredRuntime[] = [];
  const questions = Array.from({ length: n }, () => stateQuestion(state));
  record.add(
    await startTogether(n, async (index, mark) => {
      const runtime = await sidecar.restore(snapshot);
      mark('create');
      runtimes[index] = runtime;
      const problem = await evaluationProblem(runtime, questions[index] ?? stateQuestion(state));
      mark('answer');
      if (problem !== undefined) throw new Error(problem);
    }),
  );
  await checkMemory(runtimes, () => state, record);
  await disposeAll(runtimes, record);
  return record.end();
}
