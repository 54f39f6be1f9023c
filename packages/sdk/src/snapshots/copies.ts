// Runtimes that are copies of another. The sidecar makes them; what lives on this side, bindings and file systems of the app's, each of them is
// given like the one that it was copied from, before anything that their programs have asked is answered.

import type { Binding } from '../bindings/binding.js';
import { BindingRegistry, wireBindings } from '../bindings/registry.js';
import type { RuntimeCopy } from '../channel/snapshots.js';
import { fromWire } from '../errors/make.js';
import { fileSystemService } from '../file-systems/service.js';
import type { LimitWarningListener } from '../options/limits.js';
import type { CloneOptions } from '../options/snapshots.js';
import type { Provisioned } from '../runtime/create.js';

/** What is copied, and how many times. Of each copy the runtime, or the error. */
export async function copiesOf(
  source: Provisioned,
  count: number,
  { timeoutMs, settle }: CloneOptions,
  onWarning: LimitWarningListener | undefined,
): Promise<(Provisioned | Error)[]> {
  const { household, runtime, mounts } = source;
  const { connection } = household;
  const warn = onWarning === undefined ? undefined : true;
  // Known here from the first moment on, so that nobody ends the sidecar meanwhile.
  household.join();
  const served = connection.expectCalls();
  try {
    const given = source.bindings?.all;
    const bindings = given && wireBindings(given);
    const clone = { runtime, count, timeoutMs, settle, warn, mounts, bindings };
    const copies = await connection.snapshots.clone(clone, onWarning);
    return copies.map((copy) => furnished(source, copy, given));
  } finally {
    served();
    await household.leave()?.dispose();
  }
}

function furnished(
  source: Provisioned,
  { runtime, programs, failure }: RuntimeCopy,
  given: readonly Binding[] | undefined,
): Provisioned | Error {
  if (runtime === undefined) {
    const { code, message, details } = failure ?? { code: 'ERR_PROTOCOL', message: 'neither a copy nor an error', details: {} };
    return fromWire(code, message, details);
  }
  const { household, systems } = source;
  const policy = source.policy?.another();
  const connection = policy === undefined ? household.connection : policy.through(household.connection);
  household.join();
  if (systems.length > 0) connection.serve(runtime, 'filesystem', fileSystemService(systems));
  const bindings = given && new BindingRegistry(connection, runtime, given);
  const restored = { ...(source.restored ?? { cwd: '', permissions: {} }), programs };
  return { ...source, connection, policy, runtime, bindings, restored };
}
