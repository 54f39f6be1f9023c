// A thread of the host that swaps what a name stands for, as fast as it can, until it is told to stop. Counts how often.
//
// Kinds: `directory` (a folder, and a link out), `file` (a file, and a link out), `away` (a folder, and its absence: it is moved out and back),
// `chain` (a link that stays inside, and one that leads out), `absolute` (as `directory`, by an absolute link).

import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';

const { inside, outside, kind, shared } = workerData;
const [STOP, COUNT] = [0, 1];
const flags = new Int32Array(shared);

const name = join(inside, kind === 'file' ? 'swapped-file' : 'swapped');
const kept = join(outside, 'kept');

/** Puts a link in the place of what is there, and back. A guest may have put something there in between: that is let go of. */
function swap(target, isLinkAtFirst) {
  if (isLinkAtFirst) rmSync(name, { force: true });
  else renameSync(name, kept);
  symlinkSync(target, name);
  rmSync(name, { recursive: true, force: true });
  if (isLinkAtFirst) symlinkSync('dir', name);
  else renameSync(kept, name);
}

const SWAPS = {
  directory: () => swap('../outside'),
  absolute: () => swap(outside),
  file: () => swap('../outside/prey'),
  away: () => {
    renameSync(name, kept);
    renameSync(kept, name);
  },
  chain: () => swap('../outside', true),
};

while (Atomics.load(flags, STOP) === 0) {
  try {
    SWAPS[kind]();
    Atomics.add(flags, COUNT, 1);
  } catch {
    // The guest has put something into the way: what is there goes, and it begins again. The guest may be faster here, too.
    try {
      rmSync(name, { recursive: true, force: true });
      if (kind === 'chain') symlinkSync('dir', name);
      else renameSync(kept, name);
    } catch {}
  }
}
