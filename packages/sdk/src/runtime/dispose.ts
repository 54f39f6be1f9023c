// Ends a runtime: its network, its idle policy, its programs, and a sidecar that no other runtime
// uses. Running programs get time to end with an outcome before their sidecar is ended.

import type { ProcessConnection, SidecarConnection } from '../channel/sidecar-connection.js';
import type { RuntimeNetwork } from '../network/runtime-network.js';
import type { RuntimeId } from '../protocol/generated/messages.js';
import { unlessEnded } from '../sidecar/unless-ended.js';
import type { ProvisionedRuntime } from './provision.js';

/**
 * Milliseconds that running programs may take to end before their sidecar is ended. The sidecar
 * needs at most 50 milliseconds to end a program.
 */
const GRACE_MS = 1_000;

/** Ends a runtime and its network. Each step runs even if the steps before it fail. */
export async function disposeRuntime(
  { lease, policy, connection, runtime }: ProvisionedRuntime,
  network: RuntimeNetwork | undefined,
): Promise<void> {
  try {
    await network?.close();
  } finally {
    try {
      // A pause by the policy waits until the programs quiesce. The request to dispose the runtime
      // ends that wait.
      const ended = policy?.isPaused ? unlessEnded(lease.connection.disposeRuntime(runtime)) : undefined;
      await Promise.all([ended, policy?.end()]);
    } finally {
      await endInSidecar(connection, runtime, lease.release());
    }
  }
}

// Ends the runtime in its sidecar, and ends the sidecar if `owned` is set. Ending the sidecar alone
// would end the programs too, but a running program must end with an outcome, as in a shared
// sidecar. If no program runs, the sidecar is ended at once.
async function endInSidecar(
  connection: SidecarConnection,
  runtime: RuntimeId,
  owned: ProcessConnection | undefined,
): Promise<void> {
  if (owned === undefined) return unlessEnded(connection.disposeRuntime(runtime));
  if (owned.idle() !== undefined) await Promise.race([endPrograms(owned, runtime), after(GRACE_MS)]);
  return owned.dispose();
}

async function endPrograms(connection: ProcessConnection, runtime: RuntimeId): Promise<void> {
  await unlessEnded(connection.disposeRuntime(runtime));
  await connection.idle();
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
