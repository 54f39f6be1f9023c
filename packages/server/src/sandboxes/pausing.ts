// Keeps a paused sandbox: its files and memory as a snapshot, or its files alone as a snapshot. A
// sandbox whose programs never rest is frozen in memory instead.

import { isColdframeError } from 'coldframe';
import type { PauseMode } from '../registry/records.js';
import { SandboxFailure } from './failure.js';
import type { Sandbox } from './sandbox.js';

/** Milliseconds in which all programs must rest, else the sandbox is frozen. */
const REST_MS = 5_000;

/** Keeps the state of a sandbox. Returns the id of the snapshot, or `undefined` after a freeze. */
export async function keep({ id, runtime }: Sandbox, mode: PauseMode, restMs = REST_MS): Promise<string | undefined> {
  return quietly(id, async () => {
    if (mode === 'full') return (await runtime.pause({ whenBusy: 'freeze', timeoutMs: restMs }))?.id;
    return (await runtime.snapshot({ memory: false, store: 'disk', labels: { sandbox: id } })).id;
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

/** The errors of a snapshot that cannot be restored by this server. */
const LOST = new Set(['ERR_SNAPSHOT_NOT_FOUND', 'ERR_SNAPSHOT_DAMAGED', 'ERR_SNAPSHOT_FOREIGN']);

/** Runs a call that restores the kept state of a sandbox. */
export async function restored<T>(id: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isColdframeError(error) || !LOST.has(error.code)) throw error;
    throw new SandboxFailure('state-lost', `The sandbox ${id} cannot be resumed: ${error.message}`, { cause: error });
  }
}
