// Keeps a paused sandbox: its files and memory as a snapshot, or its files alone as a snapshot. A
// sandbox whose programs never rest is frozen in memory instead.

import { isColdframeError, type Sidecar } from 'coldframe';
import type { PauseMode, SandboxRecord } from '../registry/records.js';
import { SandboxFailure } from './failure.js';
import type { Sandbox } from './sandbox.js';

/** Keeps the state of a sandbox. Returns the id of the snapshot, or `undefined` after a freeze. */
export async function keep({ id, runtime }: Sandbox, mode: PauseMode): Promise<string | undefined> {
  return quietly(id, async () => {
    if (mode === 'full') return (await runtime.pause({ whenBusy: 'freeze' }))?.id;
    return (await runtime.snapshot({ memory: false, store: 'disk', labels: { sandbox: id } })).id;
  });
}

/** Deletes the kept state of a sandbox that was restored or has ended. */
export async function discard(sidecar: Sidecar, tenant: string, { snapshot }: Pick<SandboxRecord, 'snapshot'>): Promise<void> {
  if (snapshot === undefined) return;
  await sidecar.snapshots.delete(snapshot, { tenant }).catch((error: unknown) => {
    if (!isColdframeError(error, 'ERR_SNAPSHOT_NOT_FOUND')) throw error;
  });
}

/** Runs a call that needs resting programs and space on the disk. */
export async function quietly<T>(id: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (isColdframeError(error, 'ERR_SNAPSHOT_FILE')) {
      throw new SandboxFailure('disk-full', `The state of the sandbox ${id} cannot be written: ${error.reason}`, {
        cause: error,
      });
    }
    if (!isColdframeError(error, 'ERR_NOT_QUIET')) throw error;
    throw new SandboxFailure('not-quiet', `A program of the sandbox ${id} does not rest: ${error.message}`, { cause: error });
  }
}
