// n boxes from one snapshot at once (B8): until they are there, and until the live runner in each has answered.

import { type Box, type Host, reason, type Saved } from '../box.js';
import { disposeAll, makeOne, must, type Operation, type Shape, wrong } from '../operation.js';
import { type Round, RoundBook } from '../round.js';
import { look, question, type State } from '../state.js';
import { together } from '../together.js';
import { check } from './snapshot.js';

export const create: Operation = async ({ host }, shape) => {
  const { box, state } = await makeOne(host, shape.megabytes);
  const saved = await box.snapshot('memory');
  await box.dispose();
  await check(host, saved, state); // the discarded one
  return { round: () => round(host, saved, state, shape), close: () => host.remove(saved) };
};

async function round(host: Host, saved: Saved, state: State, { n }: Shape): Promise<Round> {
  const book = new RoundBook(n);
  const boxes: Box[] = [];
  const asked = Array.from({ length: n }, () => question(state));
  book.file(
    await together(n, async (index, lap) => {
      const box = await host.restore(saved);
      lap('create');
      boxes[index] = box;
      const snippet = asked[index] ?? question(state);
      const problem = await wrong(box, snippet);
      lap('answer');
      if (problem !== undefined) throw new Error(problem);
    }),
  );
  await lookInto(boxes, () => state, book);
  return book.end();
}

/** Reads all of the memory of every box that has not failed yet, then disposes of all. */
export async function lookInto(
  boxes: readonly (Box | undefined)[],
  stateOf: (place: number) => State | undefined,
  book: RoundBook,
) {
  for (const [place, box] of boxes.entries()) {
    const state = stateOf(place);
    if (!box || !state || state.megabytes === 0 || book.hasFailed(place)) continue;
    await must(box, look(state)).catch((error) => book.fail(place, `its memory: ${reason(error)}`));
  }
  await disposeAll(boxes, book);
}
