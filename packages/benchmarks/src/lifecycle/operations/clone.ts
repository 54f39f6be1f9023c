// `clone(n)` of a box that lives on (B10), its snapshot included. Every clone is asked for the state; so is the source, afterwards.

import { now } from '../../stats/timer.js';
import { reason } from '../box.js';
import { makeOne, must, type Operation, type Place, type Shape, wrong } from '../operation.js';
import { type Round, RoundBook } from '../round.js';
import { question } from '../state.js';
import { together } from '../together.js';
import { lookInto } from './create.js';

export const clone: Operation = async (place, shape) => ({ round: () => round(place, shape) });

async function round({ host }: Place, { n, megabytes }: Shape): Promise<Round> {
  const book = new RoundBook(n);
  const { box, state } = await makeOne(host, megabytes);
  try {
    const from = now();
    const clones = await box.clone(n);
    book.time('clone', now() - from);
    if (clones.length !== n) book.failAll(`${clones.length} clones instead of ${n}`);
    book.file(
      await together(n, async (index, lap) => {
        const copy = clones[index];
        if (!copy) return;
        const problem = await wrong(copy, question(state));
        lap('first answer');
        if (problem !== undefined) throw new Error(problem);
      }),
    );
    await lookInto(clones, () => state, book);
    await must(box, question(state)).catch((error) => book.failAll(`the source afterwards: ${reason(error)}`));
  } finally {
    await box.dispose();
  }
  return book.end();
}
