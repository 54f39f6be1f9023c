// The two ways to a sidecar: a process of its own, or this one.

import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { SnapshotStoreOptions } from '../options/snapshots.js';
import type { SidecarEmbeddedOptions, SidecarSpawnOptions } from '../options/types.js';
import { spawnSidecar } from '../transports/child-process.js';
import { openAddon } from '../transports/embedded.js';
import type { Opening, ProcessConnection } from './connection.js';
import { locateAddon, locateImage, locateSidecar } from './locate.js';

const GIBIBYTE = 1_073_741_824;

// The sidecar's process has no environment: it does not know where a user's data lies.
function storeOf({ directory, maxBytes = 10 * GIBIBYTE, memoryBytes = 4 * GIBIBYTE }: SnapshotStoreOptions = {}) {
  const data = process.env['XDG_DATA_HOME'];
  const folder = directory ?? join(data && isAbsolute(data) ? data : join(homedir(), '.local/share'), 'coldframe/snapshots');
  return { directory: resolve(folder), maxBytes, memoryBytes };
}

/** The topics of the log for developers, which CONTRIBUTING.md describes. Unset: no log. */
const logTopics = (): string | undefined => process.env['COLDFRAME_LOG'] || undefined;

/** Starts a sidecar process. Throws when the operating system refuses at once. */
export function openProcess(options: SidecarSpawnOptions = {}): Opening<ProcessConnection> {
  const { workers, warmSlots, maxRuntimes, spinUs, snapshots } = options;
  const { directory, maxBytes, memoryBytes } = storeOf(snapshots);
  const args = ['--image', locateImage(), '--snapshots', directory];
  args.push('--snapshot-bytes', String(maxBytes), '--snapshot-memory', String(memoryBytes));
  if (workers !== undefined) args.push('--workers', String(workers));
  if (warmSlots !== undefined) args.push('--warm-slots', String(warmSlots));
  if (maxRuntimes !== undefined) args.push('--max-runtimes', String(maxRuntimes));
  if (spinUs !== undefined) args.push('--spin-us', String(spinUs));
  const log = logTopics();
  if (log !== undefined) args.push('--log', log);
  return spawnSidecar(locateSidecar(), args, { copyTo: log === undefined ? undefined : process.stderr });
}

/** Opens the sidecar that lives in this process. Throws when it cannot be loaded. */
export function openEmbedded(options: SidecarEmbeddedOptions = {}): Opening {
  const { workers, warmSlots, maxRuntimes, spinUs, inlineBudgetMs = 0, snapshots } = options;
  const inlineUs = Math.round(inlineBudgetMs * 1_000);
  return openAddon(locateAddon(), {
    imageDir: locateImage(),
    workers,
    warmSlots,
    maxRuntimes,
    spinUs,
    inlineUs,
    log: logTopics(),
    snapshots: storeOf(snapshots),
  });
}
