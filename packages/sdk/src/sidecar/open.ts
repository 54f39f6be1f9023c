// Opens a sidecar: a process of its own, or the addon in this process. The options of the sidecar
// become command-line arguments or options of the addon. Next: `transports/child-process.ts`,
// `transports/embedded.ts`.

import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Opening, ProcessConnection } from '../channel/sidecar-connection.js';
import type { SidecarEmbeddedOptions, SidecarSpawnOptions } from '../options/sidecar.js';
import type { SnapshotStoreOptions } from '../options/snapshots.js';
import { spawnSidecar } from '../transports/child-process.js';
import { type Installation, installation } from './locate.js';

const GIBIBYTE = 1_073_741_824;

// Returns the options of the store. The default folder is resolved in this process, because the
// sidecar's process has no environment.
function storeOf({ directory, maxBytes = 10 * GIBIBYTE, memoryBytes = 4 * GIBIBYTE }: SnapshotStoreOptions = {}) {
  const data = process.env['XDG_DATA_HOME'];
  const folder = directory ?? join(data && isAbsolute(data) ? data : join(homedir(), '.local/share'), 'coldframe/snapshots');
  return { directory: resolve(folder), maxBytes, memoryBytes };
}

/** Returns the topics of the log for developers (CONTRIBUTING.md). `undefined` means no log. */
const logTopics = (): string | undefined => process.env['COLDFRAME_LOG'] || undefined;

/**
 * Starts a sidecar process. Throws `ERR_SIDECAR_SPAWN` if the operating system refuses the start
 * immediately. `mountRoots` has the only folders that will be mounted, if they are known.
 */
export function openProcess(
  files: Installation,
  options: SidecarSpawnOptions = {},
  mountRoots?: readonly string[],
): Opening<ProcessConnection> {
  const { workers, warmSlots, maxRuntimes, spinUs, snapshots, walls = 'auto' } = options;
  const { directory, maxBytes, memoryBytes } = storeOf(snapshots);
  const args = ['--image', files.locateImage(), '--snapshots', directory];
  const python = files.locatePython();
  if (python !== undefined) args.push('--python', python);
  args.push('--snapshot-bytes', String(maxBytes), '--snapshot-memory', String(memoryBytes));
  if (workers !== undefined) args.push('--workers', String(workers));
  if (warmSlots !== undefined) args.push('--warm-slots', String(warmSlots));
  if (maxRuntimes !== undefined) args.push('--max-runtimes', String(maxRuntimes));
  if (spinUs !== undefined) args.push('--spin-us', String(spinUs));
  if (walls !== 'auto') args.push('--walls', walls);
  // An empty root declares that no folder will be mounted.
  if (mountRoots !== undefined) for (const root of mountRoots.length > 0 ? mountRoots : ['']) args.push('--mount-root', root);
  const log = logTopics();
  if (log !== undefined) args.push('--log', log);
  return spawnSidecar(files.locateSidecar(), args, {
    copyTo: log === undefined ? undefined : process.stderr,
    isWalled: walls !== 'off',
  });
}

/**
 * Opens the sidecar in this process. Rejects if the addon cannot be loaded. The transport is
 * imported here, because most apps use sidecar processes only.
 */
export async function openEmbedded(options: SidecarEmbeddedOptions = {}): Promise<Opening> {
  const { workers, warmSlots, maxRuntimes, spinUs, inlineBudgetMs = 0, snapshots } = options;
  const inlineUs = Math.round(inlineBudgetMs * 1_000);
  const [files, { openAddon }] = await Promise.all([installation(), import('../transports/embedded.js')]);
  return openAddon(files.locateAddon(), {
    imageDir: files.locateImage(),
    pythonDir: files.locatePython(),
    edge: join(dirname(files.locateAddon()), 'coldframe-edge'),
    workers,
    warmSlots,
    maxRuntimes,
    spinUs,
    inlineUs,
    log: logTopics(),
    snapshots: storeOf(snapshots),
  });
}
