// Pauses n runtimes at once, and then resumes all runtimes at once. A pause ends when the state is
// on disk and the memory is free. The time `answer` ends with the first reply of a live runner.

import { privateGrowthKib, readProcessMemory } from '../../machine/footprint.js';
import { evaluationProblem, type MeasuredSidecar } from '../../sandbox/runtime.js';
import { startTogether } from '../../suite/concurrency.js';
import { checkMemory, disposeAll, type Operation, prepareRuntimes, type RowSidecar, type Shape, sizes } from '../operation.js';
import { type Round, RoundRecord } from '../round.js';
import { stateQuestion } from '../state.js';

export const pause: Operation = {
  sizes: sizes([1, 0], [5, 0], [10, 0], [1, 100]),
  quickSizes: sizes([2, 0]),
  targets: [
    { promise: 'C11', what: 'pause, fresh', atMost: 10, measure: 'pause', rows: [{}] },
    { promise: 'C12', what: 'resume to the first answer, fresh', atMost: 1.5, measure: 'answer', rows: [{}] },
  ],
  tenAgainstOne: ['pause', 'answer'],
  lines: [
    { name: 'pause', measure: 'pause' },
    { name: 'resume, answered', measure: 'answer' },
  ],
  open: async (row, shape) => ({ round: () => round(row, shape) }),
};

async function round({ sidecar }: RowSidecar, { n, megabytes }: Shape): Promise<Round> {
  const record = new RoundRecord(n);
  const prepared = await prepareRuntimes(sidecar, n, megabytes);
  const runtimes = prepared.map(({ runtime }) => runtime);
  const before = memoryOf(sidecar);
  record.add(
    await startTogether(n, async (index, mark) => {
      await runtimes[index]?.pause();
      mark('pause');
    }),
  );
  const after = memoryOf(sidecar);
  if (before && after) record.facts['given back MB'] = -privateGrowthKib(before, after) / 1024 / n;
  record.add(
    await startTogether(n, async (index, mark) => {
      const { runtime, state } = prepared[index] ?? {};
      if (!runtime || !state || record.hasFailed(index)) return;
      const question = stateQuestion(state);
      await runtime.resume();
      mark('resume');
      const problem = await evaluationProblem(runtime, question);
      mark('answer');
      if (problem !== undefined) throw new Error(`resumed: ${problem}`);
    }),
  );
  await checkMemory(runtimes, (index) => prepared[index]?.state, record);
  await disposeAll(runtimes, record);
  return record.end();
}

/**
 * Returns the memory of the sidecar's process. `undefined` for the sidecar of a test, which has no
 * process.
 */
const memoryOf = ({ pid }: MeasuredSidecar) => (pid > 0 ? readProcessMemory(pid) : undefined);
