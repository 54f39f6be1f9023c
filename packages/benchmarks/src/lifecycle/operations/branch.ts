// A live branch (B15): a parent whose guest holds so many megabytes and looks at the clock every millisecond is copied. Timed are the copy, its first answer, and
// for how long the parent did not see the clock; how long that is without any branch stands beside it. 16 MB are written anew before each.

import { now } from '../../stats/timer.js';
import type { Box, Ticker } from '../box.js';
import { makeOne, must, type Operation, type Shape, wrong } from '../operation.js';
import { type Round, RoundBook } from '../round.js';
import { MEGABYTE, question, type State } from '../state.js';

const REWRITTEN = 16;
const QUIET_MS = 40;

export const branch: Operation = async ({ host }, shape) => {
  const { box, state } = await makeOne(host, shape.megabytes);
  const ticker = await box.startTicker();
  return { round: () => round(box, state, ticker, shape), close: () => box.dispose() };
};

async function round(box: Box, state: State, ticker: Ticker, { megabytes }: Shape): Promise<Round> {
  const book = new RoundBook(1);
  await must(box, rewrite(Math.min(REWRITTEN, megabytes)));
  await ticker.begin();
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  book.facts['pause without a branch ms'] = await ticker.worst();
  await ticker.begin();
  const from = now();
  const [copy] = await box.clone(1);
  book.time('branch', now() - from);
  if (!copy) throw new Error('no copy');
  try {
    const problem = await wrong(copy, question(state));
    book.time('answer', now() - from);
    book.time('pause of the parent', await ticker.worst());
    if (problem !== undefined) book.fail(0, problem);
  } finally {
    await copy.dispose();
  }
  return book.end();
}

/** Other buffers with the same bytes: the state stays what it is. */
const rewrite = (megabytes: number) => ({
  code: `for (let i = 0; i < ${megabytes}; i++) kept.data[i].fill(kept.data[i][0]); console.log(kept.data.length >= ${megabytes}, ${MEGABYTE});`,
  stdout: `true ${MEGABYTE}\n`,
});
