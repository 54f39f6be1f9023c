// The end of runtimes and runners.

import type { ProcessConnection, SidecarConnection } from '../channel/sidecar-connection.js';
import { isColdframeError } from '../errors/error.js';

// How long programs under way may take to end before the sidecar is ended with them. The sidecar needs at most 50 ms.
const GRACE_MS = 1_000;

/**
 * Ends a runtime, and its sidecar when that is its own. Ending the sidecar would be enough then, and is all that is done when nothing
 * runs; but what does run shall end like in a shared sidecar, with an outcome.
 */
export async function disposeRuntime(
  connection: SidecarConnection,
  runtime: number,
  owned: ProcessConnection | undefined,
): Promise<void> {
  if (owned === undefined) return unlessGone(connection.disposeRuntime(runtime));
  if (owned.idle() !== undefined) await Promise.race([endPrograms(owned, runtime), after(GRACE_MS)]);
  return owned.dispose();
}

async function endPrograms(connection: ProcessConnection, runtime: number): Promise<void> {
  await unlessGone(connection.disposeRuntime(runtime));
  await connection.idle();
}

/** What is already gone need not be ended: a failure for that reason is none. */
export async function unlessGone(disposal: Promise<void>): Promise<void> {
  try {
    await disposal;
  } catch (error) {
    if (!isColdframeError(error, ...GONE)) throw error;
  }
}

const GONE = [
  'ERR_PROTOCOL',
  'ERR_RUNNER_EXITED',
  'ERR_RUNTIME_DISPOSED',
  'ERR_RUNTIME_NOT_FOUND',
  'ERR_SIDECAR_DISPOSED',
  'ERR_SIDECAR_EXITED',
] as const;

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
