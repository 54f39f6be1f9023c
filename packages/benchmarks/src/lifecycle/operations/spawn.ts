// n boxes out of one warm parent with packages loaded, each of which answers (B14), and their disposal (B13). `total` runs from the first request to the last
// confirmation. Two ways: `clone(n)` of the running parent, and n creations at once from a snapshot of it.

import { now } from '../../stats/timer.js';
import type { Box, Host, Saved } from '../box.js';
import { disposeAll, must, type Operation, type Shape, wrong } from '../operation.js';
import { askPackages, loadPackages, packageFiles } from '../packages.js';
import { type Round, RoundBook } from '../round.js';
import { type Lap, together } from '../together.js';

export const spawn: Operation = async ({ host }, shape) => {
  const parent = await host.create({ runner: true, files: packageFiles() });
  await must(parent, loadPackages);
  await must(parent, askPackages());
  if (shape.way === 'clone') return { round: () => cloneRound(parent, shape), close: () => parent.dispose() };
  const saved = await parent.snapshot('memory');
  await parent.dispose();
  return { round: () => createRound(host, saved, shape), close: () => host.remove(saved) };
};

async function cloneRound(parent: Box, { n }: Shape): Promise<Round> {
  const book = new RoundBook(n);
  const from = now();
  const boxes = await parent.clone(n);
  const spawned = now() - from;
  book.time('spawn', spawned);
  const answers = await together(n, (index, lap) => answer(boxes[index], lap));
  book.file(answers);
  // One clock for all: the clones came together, the answers one by one.
  book.time('total', spawned + (answers.laps['eval']?.wallMs ?? 0));
  return dispose(book, boxes, from);
}

async function createRound(host: Host, saved: Saved, { n }: Shape): Promise<Round> {
  const book = new RoundBook(n);
  const boxes: (Box | undefined)[] = [];
  const from = now();
  book.file(
    await together(n, async (index, lap) => {
      boxes[index] = await host.restore(saved);
      lap('spawn');
      await answer(boxes[index], () => lap('total'));
    }),
  );
  return dispose(book, boxes, from);
}

async function answer(box: Box | undefined, lap: Lap): Promise<void> {
  if (!box) throw new Error('it is not there');
  const problem = await wrong(box, askPackages());
  lap('eval');
  if (problem !== undefined) throw new Error(problem);
}

async function dispose(book: RoundBook, boxes: readonly (Box | undefined)[], from: number): Promise<Round> {
  await disposeAll(boxes, book);
  book.time('with disposal', now() - from);
  return book.end();
}
