// n boxes to sleep at once, and then all of them awake, to the first answer of the live runner in each (B12). A pause ends when the state is on disk and
// the memory given back.

import { privateGrowthKib, readProcessMemory } from '../../machine/process-memory.js';
import { type Host, reason } from '../box.js';
import { disposeAll, makeLived, must, type Operation, type Place, type Shape, wrong } from '../operation.js';
import { type Round, RoundBook } from '../round.js';
import { look, question } from '../state.js';
import { together } from '../together.js';

export const pause: Operation = async (place, shape) => ({ round: () => round(place, shape) });

async function round({ host }: Place, { n, megabytes }: Shape): Promise<Round> {
  const book = new RoundBook(n);
  const lived = await makeLived(host, n, megabytes);
  const before = memoryOf(host);
  book.file(
    await together(n, async (index, lap) => {
      await lived[index]?.box.pause();
      lap('pause');
    }),
  );
  const after = memoryOf(host);
  if (before && after) book.facts['given back MB'] = -privateGrowthKib(before, after) / 1024 / n;
  book.file(
    await together(n, async (index, lap) => {
      const { box, state } = lived[index] ?? {};
      if (!box || !state || book.hasFailed(index)) return;
      const asked = question(state);
      await box.resume();
      lap('resume');
      const problem = await wrong(box, asked);
      lap('answer');
      if (problem !== undefined) throw new Error(`resumed: ${problem}`);
    }),
  );
  for (const [index, { box, state }] of lived.entries()) {
    if (!book.hasFailed(index)) await must(box, look(state)).catch((error) => book.fail(index, `its memory: ${reason(error)}`));
  }
  await disposeAll(
    lived.map(({ box }) => box),
    book,
  );
  return book.end();
}

/** A stand-in has no process. */
const memoryOf = ({ pid }: Host) => (pid > 0 ? readProcessMemory(pid) : undefined);
