// Keeps a paused sandbox: its files and memory as a snapshot, or its files alone as an archive.

import { createGzip } from 'node:zlib';
import { isColdframeError, type Sidecar } from 'coldframe';
import type { Blobs } from '../fleet/blobs.js';
import type { PauseMode, SandboxRecord } from '../registry/records.js';
import type { Registry } from '../registry/registry.js';
import { SandboxFailure } from './failure.js';
import type { Sandbox } from './sandbox.js';

/** The stores of paused sandboxes. */
export interface PauseStores {
  registry: Registry;
  sidecar: Sidecar;
  blobs: Blobs;
}

/** The largest archive of files: more than the files of a sandbox can have. */
const LARGEST_ARCHIVE = 16 * 2 ** 30;

/** Keeps the state of a sandbox. Returns the id of the snapshot, or the digest of the archive. */
export async function keep({ blobs }: PauseStores, sandbox: Sandbox, mode: PauseMode): Promise<string> {
  if (mode === 'full') return (await quietly(sandbox.id, () => sandbox.runtime.pause())).id;
  const archive = sandbox.runtime.exportTar('/');
  const zipped = createGzip({ level: 1 });
  archive.on('error', (error) => zipped.destroy(error));
  return (await blobs.put(archive.pipe(zipped), LARGEST_ARCHIVE)).digest;
}

/** Deletes the kept state of a sandbox that was restored or has ended. */
export async function discard(
  { registry, sidecar, blobs }: PauseStores,
  tenant: string,
  { pauseMode, snapshot }: Pick<SandboxRecord, 'pauseMode' | 'snapshot'>,
): Promise<void> {
  if (snapshot === undefined) return;
  if (pauseMode === 'filesystem') {
    // A copy of the sandbox can have the same files.
    if (!registry.sandboxes.paused().some((other) => other.snapshot === snapshot)) await blobs.delete(snapshot);
  } else {
    await sidecar.snapshots.delete(snapshot, { tenant }).catch((error: unknown) => {
      if (!isColdframeError(error, 'ERR_SNAPSHOT_NOT_FOUND')) throw error;
    });
  }
}

/** Runs a call that needs resting programs. */
export async function quietly<T>(id: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isColdframeError(error, 'ERR_NOT_QUIET')) throw error;
    throw new SandboxFailure('not-quiet', `A program of the sandbox ${id} does not rest: ${error.message}`, { cause: error });
  }
}
