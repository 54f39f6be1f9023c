// Clones a runtime. The sidecar makes the clones. Bindings and app file systems are objects of this
// process. Each clone gets the objects of its source before a host call of the clone's programs is
// handled.

import type { Binding } from '../bindings/binding.js';
import { BindingRegistry, wireBindings } from '../bindings/binding-registry.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { fromWire } from '../errors/make.js';
import { fileSystemService } from '../file-systems/service.js';
import type { LimitWarningListener } from '../options/limits.js';
import type { NetworkOptions } from '../options/outside.js';
import type { CloneOptions } from '../options/snapshots.js';
import { wireOutside } from '../outside/policy.js';
import { supplyRoots } from '../outside/roots.js';
import type { RuntimeCopy } from '../protocol/generated/messages.js';
import { declare } from '../secrets/declare.js';
import type { RuntimeSecrets } from '../secrets/runtime-secrets.js';
import { type IdleConnection, type ProvisionedRuntime, policyMaker } from './provision.js';

/** The runtime to clone. */
export interface CloneSource {
  readonly provisioned: ProvisionedRuntime;
  /** The present bindings. */
  readonly bindings: readonly Binding[] | undefined;
  /** The options for outside connections of the clones. */
  readonly network: NetworkOptions | undefined;
  /** The secrets of the runtime. */
  readonly secrets: RuntimeSecrets;
  readonly onLimitWarning: LimitWarningListener | undefined;
}

type MakePolicy = (connection: SidecarConnection) => IdleConnection;

/** Makes `count` clones. Returns for each clone the runtime, or the error. */
export async function cloneRuntime(
  source: CloneSource,
  count: number,
  { timeoutMs, settle, secrets }: CloneOptions,
): Promise<(ProvisionedRuntime | Error)[]> {
  const { provisioned, bindings, network, onLimitWarning } = source;
  const { lease, runtime, mounts, policy } = provisioned;
  const { connection } = lease;
  const warn = onLimitWarning === undefined ? undefined : true;
  // During the call the lease has one more holder, so that a disposal of the source does not end
  // the sidecar.
  lease.acquire();
  const releaseCalls = connection.expectCalls();
  try {
    const makePolicy = policy && (await policyMaker(policy.options));
    const outside = network && wireOutside(network, secrets && declare(Object.entries(secrets)));
    const clone = { runtime, count, timeoutMs, settle, warn, mounts, bindings: bindings && wireBindings(bindings), outside };
    const supplied = outside && supplyRoots(connection);
    const copies = await connection.cloneRuntime(clone, onLimitWarning);
    await supplied;
    return copies.map((copy) => cloneOf(source, copy, makePolicy));
  } finally {
    releaseCalls();
    await lease.release()?.dispose();
  }
}

function cloneOf(
  { provisioned, bindings, secrets }: CloneSource,
  { runtime, programs, failure }: RuntimeCopy,
  makePolicy: MakePolicy | undefined,
): ProvisionedRuntime | Error {
  if (runtime === undefined) {
    const { code, message, details } = failure ?? { code: 'ERR_PROTOCOL', message: 'neither a clone nor an error', details: {} };
    return fromWire(code, message, details);
  }
  const { lease, fileSystems } = provisioned;
  const { connection, policy } = makePolicy?.(lease.connection) ?? { connection: lease.connection, policy: undefined };
  lease.acquire();
  if (fileSystems.length > 0) connection.serve(runtime, 'filesystem', fileSystemService(fileSystems));
  const registry = bindings && new BindingRegistry(connection, runtime, bindings);
  // The clone has every secret of its source, perhaps without a value.
  const known = secrets.list().map(({ name, hosts }) => ({ name, hosts: [...hosts] }));
  const restored = { ...(provisioned.restored ?? { cwd: '', permissions: {} }), programs, secrets: known };
  return { ...provisioned, connection, policy, runtime, bindings: registry, restored };
}
