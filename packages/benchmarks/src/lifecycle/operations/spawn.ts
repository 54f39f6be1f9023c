// Makes n runtimes from one warm parent that has loaded packages, waits until each runtime has
// replied, and disposes of the runtimes. `total` runs from the first request to the last reply.
//
// There are two ways: `clone(n)` of the running parent, and n restores at once from a snapshot of
// the parent.

import { createPackageParent, packageQuestion } from '../../sandbox/packages.js';
import { evaluationProblem, type MeasuredRuntime, type MeasuredSidecar, type MeasuredSnapshot } from '../../sandbox/runtime.js';
import { now } from '../../statistics/timer.js';
import { type Mark, startTogether } from '../../suite/concurrency.js';
import { disposeAll, type Operation, type Shape, sizes } from '../operation.js';
import { type Round, RoundRecord } from '../round.js';

export const spawn: Operation = {
  sizes: ['clone', 'create'].flatMap((way) => sizes([1, 0, way], [10, 0, way], [50, 0, way], [100, 0, way])),
  quickSizes: sizes([2, 0, 'clone'], [2, 0, 'create']),
  targets: [
    {
      promise: 'C13',
      what: 'spawn 100 from a warm parent, all answered',
      atMost: 60,
      measure: 'total',
      rows: [{ n: 100, way: 'clone' }],
    },
  ],
  tenAgainstOne: ['total'],
  lines: [{ name: 'spawn, answered', measure: 'total', way: 'clone' }],
  open: async ({ sidecar }, shape) => {
    const parent = await createPackageParent(sidecar);
    if (shape.way === 'clone') return { round: () => cloneRound(parent, shape), close: () => parent.dispose() };
    const snapshot = await parent.snapshot('memory');
    await parent.dispose();
    return { round: () => createRound(sidecar, snapshot, shape), close: () => sidecar.deleteSnapshot(snapshot) };
  },
};

async function cloneRound(parent: MeasuredRuntime, { n }: Shape): Promise<Round> {
  const record = new RoundRecord(n);
  const from = now();
  const runtimes = await parent.clone(n);
  const spawned = now() - from;
  record.time('spawn', spawned);
  const answers = await startTogether(n, (index, mark) => answer(runtimes[index], mark));
  record.add(answers);
  // All clones exist before the first probe. So `total` is the sum of the two wall times.
  record.time('total', spawned + (answers.timings['eval']?.wallMs ?? 0));
  return dispose(record, runtimes, from);
}

async function createRound(sidecar: MeasuredSidecar, snapshot: MeasuredSnapshot, { n }: Shape): Promise<Round> {
  const record = new RoundRecord(n);
  const runtimes: (MeasuredRuntime | undefined)[] = [];
  const from = now();
  record.add(
    await startTogether(n, async (index, mark) => {
      runtimes[index] = await sidecar.restore(snapshot);
      mark('spawn');
      await answer(runtimes[index], () => mark('total'));
    }),
  );
  return dispose(record, runtimes, from);
}

async function answer(runtime: MeasuredRuntime | undefined, mark: Mark): Promise<void> {
  if (!runtime) throw new Error('the runtime does not exist');
  const problem = await evaluationProblem(runtime, packageQuestion());
  mark('eval');
  if (problem !== undefined) throw new Error(problem);
}

async function dispose(record: RoundRecord, runtimes: readonly (MeasuredRuntime | undefined)[], from: number): Promise<Round> {
  await disposeAll(runtimes, record);
  record.time('with disposal', now() - from);
  return record.end();
}
