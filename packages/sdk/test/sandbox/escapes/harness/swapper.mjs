// Swaps the target of a name as fast as possible until the thread is stopped, and counts the swaps.
// Sends a message after a swap if the test asked for one.
//
// `directory` swaps a folder and an outward link. `absolute` does so with an absolute link. `file`
// swaps a file and an outward link. `chain` swaps an inward link and an outward link. `away` moves
// a folder out of the mount and back.

import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';

const { inside, outside, kind, shared } = workerData;
const [STOP, COUNT, ASKED] = [0, 1, 2];
const flags = new Int32Array(shared);

const name = join(inside, kind === 'file' ? 'swapped-file' : 'swapped');
const kept = join(outside, 'kept');

/**
 * Replaces the entry with a link, and undoes the replacement. Removes entries that the guest made
 * between the two steps.
 */
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
  file: () => swap('../outside/protected'),
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
    if (Atomics.exchange(flags, ASKED, 0) === 1) parentPort.postMessage('swapped');
  } catch {
    // The guest has made an entry with the name. The entry is removed and the first state is
    // restored. The guest may make an entry again while the state is restored.
    try {
      rmSync(name, { recursive: true, force: true });
      if (kind === 'chain') symlinkSync('dir', name);
      else renameSync(kept, name);
    } catch {}
  }
}
