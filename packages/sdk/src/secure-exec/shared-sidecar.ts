// The sidecar that the calls of secure-exec 0.2.21 share. The first call spawns it. It keeps no app
// alive.

import { isColdframeError, Sidecar } from '../index.js';

let spawning: Promise<Sidecar> | undefined;

/** Returns the shared sidecar. Spawns a sidecar if there is none, or if the last spawn failed. */
export function sharedSidecar(): Promise<Sidecar> {
  if (spawning === undefined) {
    const attempt = Sidecar.spawn();
    spawning = attempt;
    attempt.catch(() => {
      if (spawning === attempt) spawning = undefined;
    });
  }
  return spawning;
}

/** Spawns the shared sidecar, so that the first execution does not wait for it. */
export async function init(): Promise<void> {
  await sharedSidecar();
}

/**
 * Calls `use` with the shared sidecar. If the process of that sidecar has ended, calls `use` again
 * with a new sidecar.
 */
export async function withSharedSidecar<T>(use: (sidecar: Sidecar) => Promise<T>): Promise<T> {
  const present = sharedSidecar();
  try {
    return await use(await present);
  } catch (error) {
    if (!isColdframeError(error, 'ERR_SIDECAR_EXITED')) throw error;
    if (spawning === present) spawning = undefined;
    return use(await sharedSidecar());
  }
}

/** Ends the shared sidecar and its VMs. The next call spawns a new sidecar. */
export async function shutdown(): Promise<void> {
  const ended = spawning;
  spawning = undefined;
  // After a failed spawn there is no sidecar to end.
  await ended?.then(
    (sidecar) => sidecar.dispose(),
    () => {},
  );
}
