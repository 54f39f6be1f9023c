// Clones a live parent whose guest has written megabytes and reads the clock every millisecond.
//
// The row measures the clone, the clone's first reply, and the longest time in which the parent did
// not read the clock. The longest time without a clone is a fact beside the times. Before each
// clone, the guest writes up to 16 MB again.

import { evaluateRight, evaluationProblem, type MeasuredRuntime, type Ticker } from '../../sandbox/runtime.js';
import type { Snippet } from '../../sandbox/snippet.js';
import { now } from '../../statistics/timer.js';
import { type Operation, prepareRuntime, type Shape, sizes } from '../operation.js';
import { type Round, RoundRecord } from '../round.js';
import { MEGABYTE, type State, stateQuestion } from '../state.js';

const REWRITTEN = 16;
const QUIET_MS = 40;

export const branch: Operation = {
  sizes: sizes([1, 0], [1, 100], [1, 1_536]),
  quickSizes: sizes([1, 1]),
  rounds: 20,
  guessMs: ({ n, megabytes }) => 20 + 3 * n + 0.2 * megabytes,
  targets: [],
  tenAgainstOne: [],
  lines: [],
  open: async ({ sidecar }, shape) => {
    const { runtime, state } = await prepareRuntime(sidecar, shape.megabytes);
    const ticker = await runtime.startTicker();
    return { round: () => round(runtime, state, ticker, shape), close: () => runtime.dispose() };
  },
};

async function round(runtime: MeasuredRuntime, state: State, ticker: Ticker, { megabytes }: Shape): Promise<Round> {
  const record = new RoundRecord(1);
  await evaluateRight(runtime, rewrite(Math.min(REWRITTEN, megabytes)));
  await ticker.begin();
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  record.facts['pause without a branch ms'] = await ticker.worst();
  await ticker.begin();
  const from = now();
  const [copy] = await runtime.clone(1);
  record.time('branch', now() - from);
  if (!copy) throw new Error('no copy');
  try {
    const problem = await evaluationProblem(copy, stateQuestion(state));
    record.time('answer', now() - from);
    record.time('pause of the parent', await ticker.worst());
    if (problem !== undefined) record.fail(0, problem);
  } finally {
    await copy.dispose();
  }
  return record.end();
}

/**
 * Makes the snippet that writes the first megabytes again with equal bytes. The state does not
 * change.
 */
const rewrite = (megabytes: number): Snippet => ({
  code: `for (let i = 0; i < ${megabytes}; i++) kept.data[i].fill(kept.data[i][0]);
console.log(kept.data.length >= ${megabytes}, ${MEGABYTE});`,
  stdout: `true ${MEGABYTE}\n`,
});
