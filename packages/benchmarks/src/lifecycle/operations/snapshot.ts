// Takes snapshots of n runtimes at once. A single snapshot is measured for several sizes of written
// data, in memory or in files.
//
// For a single snapshot, the time from the restore to the first reply of the live runner is
// measured too. The source ends before the restore. A published script waits half a second until
// the source's memory is free. This row waits 5 ms, and a quarter of a millisecond for each
// megabyte. Before the measured restore, a first restore proves that the snapshot has the whole
// state. The time of this first restore to its first reply is `first copy`.

import { evaluateRight, evaluationProblem, type MeasuredSidecar, type MeasuredSnapshot } from '../../sandbox/runtime.js';
import { type Mark, startTogether } from '../../suite/concurrency.js';
import { reason } from '../../suite/failures.js';
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
import { MEGABYTE, memoryQuestion, type State, stateQuestion } from '../state.js';

/** Megabytes that the guest writes before a snapshot: the sizes of the published sweep. */
const SWEEP = [0, 10, 50, 100, 200, 500, 800, 1_024] as const;

export const snapshot: Operation = {
  sizes: sizes(
    ...SWEEP.map((megabytes) => [1, megabytes] as const),
    [5, 0],
    [10, 0],
    [10, 100],
    [1, 100, 'in files'],
    [1, 1_024, 'in files'],
  ),
  quickSizes: sizes([1, 0], [2, 2], [1, 3, 'in files']),
  targets: [
    { promise: 'C1', what: 'snapshot, fresh', atMost: 2, measure: 'snapshot', rows: [{}] },
    { promise: 'C2', what: 'snapshot, 100 MB dirty', atMost: 25, measure: 'snapshot', rows: [{ megabytes: 100 }] },
    { promise: 'C3', what: 'snapshot, 1,024 MB dirty', atMost: 250, measure: 'snapshot', rows: [{ megabytes: 1_024 }] },
    {
      promise: 'C4',
      what: 'create from a snapshot to the first answer, slowest size of the sweep',
      atMost: 1.5,
      measure: 'answer',
      rows: SWEEP.map((megabytes) => ({ megabytes })),
    },
  ],
  tenAgainstOne: ['snapshot'],
  lines: [{ name: 'snapshot', measure: 'snapshot' }],
  sizeLines: [
    { name: 'snapshot', measure: 'snapshot' },
    { name: 'create, answered', measure: 'answer' },
  ],
  open: async (row, shape) => ({ round: () => round(row, shape) }),
};

async function round({ sidecar }: RowSidecar, { n, megabytes, way }: Shape): Promise<Round> {
  const record = new RoundRecord(n);
  const prepared = await prepareRuntimes(sidecar, n, megabytes, way === 'in files' ? { fileMegabytes: megabytes } : {});
  const snapshots = record.add(
    await startTogether(n, async (index, mark) => {
      const taken = await prepared[index]?.runtime.snapshot('memory');
      mark('snapshot');
      return taken;
    }),
  );
  await disposeAll(
    prepared.map(({ runtime }) => runtime),
    record,
  );
  for (const [index, taken] of snapshots.entries()) {
    const state = prepared[index]?.state;
    if (!taken || !state) continue;
    if (n > 1) {
      await checkCopy(sidecar, taken, state).catch((error) => record.fail(index, `copy: ${reason(error)}`));
      continue;
    }
    record.add(await startTogether(1, (_, mark) => checkCopy(sidecar, taken, state, () => mark('first copy'))));
    await settle(megabytes);
    record.add(await startTogether(1, (_, mark) => timeCopy(sidecar, taken, state, mark)));
  }
  await deleteSnapshots(sidecar, snapshots, record);
  const bytes = snapshots.reduce((sum, taken) => sum + (taken?.bytes ?? 0), 0);
  record.facts['actual dirty MB'] = bytes / n / MEGABYTE;
  return record.end();
}

/** Checks that a restored runtime has the whole state. Calls `answered` after the first reply. */
export async function checkCopy(
  sidecar: MeasuredSidecar,
  source: MeasuredSnapshot,
  state: State,
  answered: () => void = () => {},
): Promise<void> {
  const copy = await sidecar.restore(source);
  try {
    await evaluateRight(copy, stateQuestion(state));
    answered();
    await evaluateRight(copy, memoryQuestion(state));
  } finally {
    await copy.dispose();
  }
}

const settle = (megabytes: number) => new Promise((resolve) => setTimeout(resolve, 5 + megabytes / 4));

async function timeCopy(sidecar: MeasuredSidecar, source: MeasuredSnapshot, state: State, mark: Mark): Promise<void> {
  const question = stateQuestion(state);
  const copy = await sidecar.restore(source);
  mark('create');
  try {
    const problem = await evaluationProblem(copy, question);
    mark('answer');
    if (problem !== undefined) throw new Error(`copy: ${problem}`);
  } finally {
    await copy.dispose();
  }
}
