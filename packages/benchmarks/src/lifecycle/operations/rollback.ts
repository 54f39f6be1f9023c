// n boxes back to a snapshot of their own at once (B9), after each has become another. The field's script has the writing inside its clock; here it is a
// fact beside it.

import { now } from '../../stats/timer.js';
import type { Saved } from '../box.js';
import { disposeAll, makeLived, must, type Operation, type Place, removeAll, type Shape, wrong } from '../operation.js';
import { type Round, RoundBook } from '../round.js';
import { change, question, write } from '../state.js';
import { together } from '../together.js';

export const rollback: Operation = async (place, shape) => ({ round: () => round(place, shape) });

async function round({ host }: Place, { n, megabytes }: Shape): Promise<Round> {
  const book = new RoundBook(n);
  const lived = await makeLived(host, n, 0, { megabytes });
  const saves: Saved[] = [];
  for (const { box } of lived) saves.push(await box.snapshot('memory'));
  const from = now();
  for (const { box, state } of lived) {
    await must(box, change(state, state.secret + 1));
    if (megabytes > 0) await must(box, write({ ...state }, megabytes));
  }
  book.facts['write ms'] = (now() - from) / n;
  book.file(
    await together(n, async (index, lap) => {
      const saved = saves[index];
      if (saved) await lived[index]?.box.rollback(saved);
      lap('rollback');
    }),
  );
  // The state of the snapshot is there, what came after it is not.
  book.file(
    await together(n, async (index, lap) => {
      const { box, state } = lived[index] ?? {};
      if (!box || !state || book.hasFailed(index)) return;
      const problem = await wrong(box, question(state));
      lap('first answer');
      if (problem !== undefined) throw new Error(`rolled back: ${problem}`);
    }),
  );
  await disposeAll(
    lived.map(({ box }) => box),
    book,
  );
  await removeAll(host, saves, book);
  return book.end();
}
