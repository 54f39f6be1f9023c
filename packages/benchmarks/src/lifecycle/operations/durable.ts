// Restores snapshots from disk after the end of their sidecar. A row writes n snapshots, kills the
// sidecar with SIGKILL, and starts another sidecar on the same folder. The new sidecar restores n
// runtimes at once by id. The clock stops when the live runner in each runtime has replied.

import { evaluationProblem, type MeasuredRuntime } from '../../sandbox/runtime.js';
import { now } from '../../statistics/timer.js';
import { startTogether } from '../../suite/concurrency.js';
import {
  checkMemory,
  deleteSnapshots,
  disposeAll,
  guessFor,
  type Operation,
  prepareRuntimes,
  type RowSidecar,
  type Shape,
  sizes,
} from '../operation.js';
import { type Round, RoundRecord } from '../round.js';
import { stateQuestion } from '../state.js';

export const durable: Operation = {
  sizes: sizes([1, 0], [10, 0], [50, 0], [1, 100]),
  quickSizes: sizes([2, 0]),
  guessMs: (shape) => guessFor(shape) + 15 * shape.n,
  targets: [],
  tenAgainstOne: [],
  lines: [],
  open: async (row, shape) => ({ round: () => round(row, shape) }),
};

async function round(row: RowSidecar, { n, megabytes }: Shape): Promise<Round> {
  const record = new RoundRecord(n);
  const prepared = await prepareRuntimes(row.sidecar, n, megabytes);
  const snapshots = record.add(
    await startTogether(n, async (index, mark) => {
      const taken = await prepared[index]?.runtime.snapshot('disk');
      mark('write');
      return taken;
    }),
  );
  await row.sidecar.kill();
  const from = now();
  const sidecar = await row.reopen();
  record.time('sidecar', now() - from);
  const runtimes: (MeasuredRuntime | undefined)[] = [];
  record.add(
    await startTogether(n, async (index, mark) => {
      const [snapshot, state] = [snapshots[index], prepared[index]?.state];
      if (!snapshot || !state) throw new Error('the runtime has no snapshot');
      const runtime = await sidecar.restore(snapshot.id);
      mark('create');
      runtimes[index] = runtime;
      const problem = await evaluationProblem(runtime, stateQuestion(state));
      mark('answer');
      if (problem !== undefined) throw new Error(`after the kill: ${problem}`);
    }),
  );
  await checkMemory(runtimes, (index) => prepared[index]?.state, record);
  await disposeAll(runtimes, record);
  await deleteSnapshots(sidecar, snapshots, record);
  return record.end();
}
