// What is on disk outlives the sidecar (B19): n snapshots are written, the sidecar is killed with SIGKILL, another one is started on the same folder, and n boxes are
// made from them at once, by name, to the first answer of the live runner in each.

import { now } from '../../stats/timer.js';
import type { Box } from '../box.js';
import { makeLived, type Operation, type Place, removeAll, type Shape, wrong } from '../operation.js';
import { type Round, RoundBook } from '../round.js';
import { question } from '../state.js';
import { together } from '../together.js';
import { lookInto } from './create.js';

export const durable: Operation = async (place, shape) => ({ round: () => round(place, shape) });

async function round(place: Place, { n, megabytes }: Shape): Promise<Round> {
  const book = new RoundBook(n);
  const lived = await makeLived(place.host, n, megabytes);
  const saves = book.file(
    await together(n, async (index, lap) => {
      const saved = await lived[index]?.box.snapshot('disk');
      lap('write');
      return saved;
    }),
  );
  await place.host.kill();
  const from = now();
  const host = await place.reopen();
  book.time('sidecar', now() - from);
  const boxes: (Box | undefined)[] = [];
  book.file(
    await together(n, async (index, lap) => {
      const [saved, state] = [saves[index], lived[index]?.state];
      if (!saved || !state) throw new Error('there is no snapshot of it');
      const box = await host.restore(saved.id);
      lap('create');
      boxes[index] = box;
      const problem = await wrong(box, question(state));
      lap('answer');
      if (problem !== undefined) throw new Error(`after the kill: ${problem}`);
    }),
  );
  await lookInto(boxes, (index) => lived[index]?.state, book);
  await removeAll(host, saves, book);
  return book.end();
}
