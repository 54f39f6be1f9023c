// Snapshots of n boxes at once (B6), and, of a single one, by what its guest has written (B7), into its memory or into files of the box: the snapshot, then a second box from it, to the first
// answer of the live runner in it. The source is gone by then and its memory given back (the field's script waits half a second, this one a quarter of a
// millisecond for each megabyte), and a first box has shown that all of it is there. How long that one took, right behind the source's end, is `first copy`.

import { type Host, reason, type Saved } from '../box.js';
import { disposeAll, makeLived, must, type Operation, type Place, removeAll, type Shape, wrong } from '../operation.js';
import { type Round, RoundBook } from '../round.js';
import { look, MEGABYTE, question, type State } from '../state.js';
import { together } from '../together.js';

export const snapshot: Operation = async (place, shape) => ({ round: () => round(place, shape) });

async function round({ host }: Place, { n, megabytes, way }: Shape): Promise<Round> {
  const book = new RoundBook(n);
  const lived = await makeLived(host, n, megabytes, way === 'in files' ? { fileMegabytes: megabytes } : {});
  const saves = book.file(
    await together(n, async (index, lap) => {
      const saved = await lived[index]?.box.snapshot('memory');
      lap('snapshot');
      return saved;
    }),
  );
  await disposeAll(
    lived.map(({ box }) => box),
    book,
  );
  for (const [index, saved] of saves.entries()) {
    const state = lived[index]?.state;
    if (!saved || !state) continue;
    if (n > 1) {
      await check(host, saved, state).catch((error) => book.fail(index, `its copy: ${reason(error)}`));
      continue;
    }
    book.file(await together(1, (_, lap) => check(host, saved, state, () => lap('first copy'))));
    await settle(megabytes);
    book.file(await together(1, (_, lap) => timeCopy(host, saved, state, lap)));
  }
  await removeAll(host, saves, book);
  const bytes = saves.reduce((sum, saved) => sum + (saved?.bytes ?? 0), 0);
  book.facts['actual dirty MB'] = bytes / n / MEGABYTE;
  return book.end();
}

/** All of the state is in a copy. */
export async function check(host: Host, saved: Saved | string, state: State, answered: () => void = () => {}): Promise<void> {
  const copy = await host.restore(saved);
  try {
    await must(copy, question(state));
    answered();
    await must(copy, look(state));
  } finally {
    await copy.dispose();
  }
}

const settle = (megabytes: number) => new Promise((resolve) => setTimeout(resolve, 5 + megabytes / 4));

async function timeCopy(host: Host, saved: Saved, state: State, lap: (name: string) => void): Promise<void> {
  const asked = question(state);
  const copy = await host.restore(saved);
  lap('create');
  try {
    const problem = await wrong(copy, asked);
    lap('answer');
    if (problem !== undefined) throw new Error(`its copy: ${problem}`);
  } finally {
    await copy.dispose();
  }
}
