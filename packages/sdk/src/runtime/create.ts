// How a runtime comes to be: in the caller's sidecar, or in one of its own; new, or from a snapshot.
//
// In a sidecar of its own the request is on its way before the sidecar has even said hello: one round trip less. Whatever fails after the
// sidecar was started ends it again. Next: `snapshots/copies.ts`, runtimes that are copies of another.

import { type Binding, bindingsOf } from '../bindings/binding.js';
import { BindingRegistry, wireBindings } from '../bindings/registry.js';
import type { Restored, RuntimeCreate, RuntimeCreated, WireMount } from '../channel/messages.js';
import type { Opened, Opening, SidecarConnection } from '../channel/sidecar-connection.js';
import { fileSystemService } from '../file-systems/service.js';
import type { FileSystemMount } from '../file-systems/types.js';
import type { Limits } from '../options/limits.js';
import { wirePolicy } from '../options/permissions.js';
import { DEFAULT_TENANT } from '../options/snapshots.js';
import type { BootTimingListener, NodeRuntimeOptions } from '../options/types.js';
import { openingOf } from '../sidecar/connections.js';
import { Household } from '../sidecar/household.js';
import { openProcess } from '../sidecar/open.js';
import { explained, knownOf } from '../snapshots/known.js';
import type { Snapshot } from '../snapshots/snapshot.js';
import { reportModuleLoad, reportOpening } from './boot-timing.js';
import { writeFile } from './files.js';
import type { IdlePolicy } from './idle.js';
import { fileSystemsOf, mountsOf, seedOf } from './seed.js';

/** A runtime in a sidecar. */
export interface Provisioned {
  /** Its sidecar, which it has joined. */
  household: Household;
  /** The sidecar, as this runtime has it. */
  connection: SidecarConnection;
  /** What becomes of it when nobody uses it. */
  policy: IdlePolicy<Snapshot> | undefined;
  runtime: number;
  /** Its bindings, when it was made with some, or may have some from a snapshot. */
  bindings: BindingRegistry | undefined;
  tenant: string;
  /** Its mounts, and the file systems of the app's among them: for copies of it. */
  mounts: readonly WireMount[] | undefined;
  systems: readonly FileSystemMount[];
  /** What it has from a snapshot. */
  restored: Restored | undefined;
}

/** Makes a runtime with checked options. */
export async function provision(options: NodeRuntimeOptions): Promise<Provisioned> {
  const { env, cwd, onBootTiming, onLimitWarning } = options;
  const { profile, limits } = limitsOf(options.limits);
  const warn = onLimitWarning === undefined ? undefined : true;
  const { files, later } = seedOf(options.files);
  const mounts = mountsOf(options);
  const systems = fileSystemsOf(options);
  const bindings = options.bindings && (await bindingsOf('NodeRuntime.create()', options.bindings));
  const permissions = options.permissions === undefined ? undefined : wirePolicy(options.permissions);
  const { snapshot, tenant } = sourceOf(options);
  const policy = options.idle && new (await import('./idle.js')).IdlePolicy<Snapshot>(options.idle);
  const begin = performance.now();
  const { household, opened, own } = placeOf(options);
  const connection = policy === undefined ? household.connection : policy.through(household.connection);
  // Those of a snapshot run from the first moment on; a new runtime is told of them when it is there.
  const known = snapshot === undefined ? undefined : bindings && wireBindings(bindings);
  const served = snapshot === undefined ? undefined : connection.expectCalls();
  household.join();
  try {
    const created = await connection.createRuntime(
      { env, cwd, limits, profile, warn, files, mounts, permissions, snapshot, tenant, bindings: known },
      onLimitWarning,
    );
    const { runtime, restored } = created;
    if (systems.length > 0) connection.serve(runtime, 'filesystem', fileSystemService(systems));
    const registry = bindings || restored ? new BindingRegistry(connection, runtime, restored && bindings) : undefined;
    const furnished = furnish(connection, runtime, registry, restored ? undefined : bindings, later);
    // Its programs run already, and the registry answers for what it has been given.
    served?.();
    await furnished;
    if (onBootTiming !== undefined) {
      const totalMs = performance.now() - begin;
      reportCreation(onBootTiming, created, await opened, totalMs, own);
    }
    const shared = { household, tenant: tenant ?? DEFAULT_TENANT, mounts, systems, restored };
    return { ...shared, connection, policy, runtime, bindings: registry };
  } catch (error) {
    // Asked before it is let go of.
    const meant = explained(error, options.snapshot, tenant ?? DEFAULT_TENANT);
    await household.leave()?.dispose();
    throw meant;
  } finally {
    served?.();
  }
}

// Which snapshot it goes on from, and whose it is: a `Snapshot` says that itself.
function sourceOf({ snapshot, tenant }: NodeRuntimeOptions): { snapshot?: string | undefined; tenant?: string | undefined } {
  if (snapshot === undefined || typeof snapshot === 'string') return { snapshot, tenant };
  return { snapshot: snapshot.id, tenant: tenant ?? snapshot.tenant };
}

interface Place {
  household: Household;
  opened: Promise<Opened> | undefined;
  /** Whether the sidecar is a new one. */
  own: boolean;
}

function placeOf({ sidecar, snapshot }: NodeRuntimeOptions): Place {
  if (sidecar !== undefined) {
    const { connection, opened } = openingOf(sidecar) as Opening;
    return { household: new Household(connection), opened, own: false };
  }
  const household = knownOf(snapshot)?.household;
  if (household?.isOpen()) return { household, opened: undefined, own: false };
  const { connection, opened } = openProcess();
  return { household: new Household(connection, connection), opened, own: true };
}

// What the request could not hold. All of it or an error, and no runtime.
async function furnish(
  connection: SidecarConnection,
  runtime: number,
  registry: BindingRegistry | undefined,
  bindings: readonly Binding[] | undefined,
  later: [string, Uint8Array][],
): Promise<void> {
  const registered = bindings === undefined ? undefined : registry?.add(bindings);
  try {
    for (const [path, data] of later) await writeFile(connection, runtime, path, data);
    await registered;
  } catch (error) {
    registered?.catch(() => {});
    await connection.disposeRuntime(runtime);
    throw error;
  }
}

// The sidecar takes the profile apart from the numbers.
function limitsOf(options: Limits | undefined): Pick<RuntimeCreate, 'profile' | 'limits'> {
  if (options === undefined) return {};
  // That of answers is not the sidecar's (`network/runtime-network.ts`).
  const { profile, fetchResponseBytes: _own, ...limits } = options;
  return { profile, limits };
}

function reportCreation(
  listener: BootTimingListener,
  { configureNs }: RuntimeCreated,
  opened: Opened | undefined,
  totalMs: number,
  owned: boolean,
): void {
  if (opened !== undefined) {
    if (owned) reportOpening(listener, opened);
    reportModuleLoad(listener, opened);
  }
  const openMs = owned && opened !== undefined ? (opened.spawnMs ?? 0) + opened.sessionMs : 0;
  // A sidecar that is being opened has the request already, and may be done with it before this process hears of either: no time counts twice.
  const restMs = Math.max(0, totalMs - openMs);
  const configureMs = Math.min(configureNs / 1e6, restMs);
  listener({ phase: 'vm_create', durationMs: restMs - configureMs });
  listener({ phase: 'vm_configure', durationMs: configureMs });
  listener({ phase: 'runtime_create_total', durationMs: totalMs });
}
