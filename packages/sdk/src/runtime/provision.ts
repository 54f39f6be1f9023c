// Creates a runtime, empty or from a snapshot: in the caller's sidecar, in the sidecar of a
// `Snapshot`, or in a new sidecar.
//
// The request is sent to a new sidecar before the sidecar's hello has arrived, which saves a round
// trip. A failure after the new sidecar was started ends the new sidecar. Next: `clones.ts`, which
// clones a runtime.

import type { Binding } from '../bindings/binding.js';
import { BindingRegistry, wireBindings } from '../bindings/binding-registry.js';
import type { Opened, SidecarConnection } from '../channel/sidecar-connection.js';
import { now } from '../clock.js';
import { fileSystemService } from '../file-systems/service.js';
import { writeFile } from '../files/contents.js';
import { fileSystemsOf, initialFilesOf, mountsOf } from '../files/initial-files.js';
import type { IdlePolicy } from '../idle/policy.js';
import type { Bindings } from '../options/bindings.js';
import type { FileSystemMount } from '../options/file-system.js';
import type { IdleOptions } from '../options/idle.js';
import type { Limits } from '../options/limits.js';
import { hasPackages } from '../options/python.js';
import { DEFAULT_TENANT } from '../options/snapshots.js';
import { wireOutside } from '../outside/policy.js';
import { supplyRoots } from '../outside/roots.js';
import { wirePolicy } from '../permissions/policy.js';
import type { Mount, Restored, RuntimeCreate, RuntimeId } from '../protocol/generated/messages.js';
import { reportCreation } from '../sidecar/boot-timing.js';
import { SidecarLease } from '../sidecar/lease.js';
import { type Installation, installation } from '../sidecar/locate.js';
import { openProcess } from '../sidecar/open.js';
import { openingOf } from '../sidecar/openings.js';
import type { Snapshot } from '../sidecar/snapshot.js';
import { explainMissing, originOf } from '../sidecar/snapshot-origin.js';
import { requireWalls } from '../sidecar/walls.js';
import { whileLoadingParts } from './load-parts.js';
import type { NodeRuntimeOptions } from './options.js';

/** A runtime in a sidecar. */
export interface ProvisionedRuntime {
  /** The lease of the sidecar, which the runtime has acquired. */
  readonly lease: SidecarLease;
  /** The connection for the runtime's requests. */
  readonly connection: SidecarConnection;
  readonly policy: IdlePolicy<Snapshot> | undefined;
  /** The id of the runtime. */
  readonly runtime: RuntimeId;
  /**
   * The bindings, if the runtime was created with bindings or from a snapshot that may contain
   * bindings.
   */
  readonly bindings: BindingRegistry | undefined;
  readonly tenant: string;
  /** All mounts, for clones. */
  readonly mounts: readonly Mount[] | undefined;
  /** The app file systems among the mounts, for clones. */
  readonly fileSystems: readonly FileSystemMount[];
  /** The programs and other parts that were restored from a snapshot. */
  readonly restored: Restored | undefined;
}

/** Creates a runtime with checked options. */
export async function provision(options: NodeRuntimeOptions): Promise<ProvisionedRuntime> {
  if (!hasPackages(options)) return provisionRuntime(options);
  const { provisionWithPackages } = await import('./python-packages.js');
  return provisionWithPackages(options, provisionRuntime);
}

/** Creates a runtime. The packages of the option `python` are part of the snapshot. */
async function provisionRuntime(options: NodeRuntimeOptions): Promise<ProvisionedRuntime> {
  const { env, cwd, weight, onBootTiming, onLimitWarning } = options;
  const { profile, limits } = limitsOf(options.limits);
  const warn = onLimitWarning === undefined ? undefined : true;
  const { message: files, later } = initialFilesOf(options.files, options.snapshot === undefined);
  const mounts = mountsOf(options);
  const fileSystems = fileSystemsOf(options);
  const bindings = options.bindings && (await preparedBindings(options.bindings));
  const permissions = options.permissions === undefined ? undefined : wirePolicy(options.permissions);
  const secrets = options.secrets && (await import('../secrets/declare.js')).declare(Object.entries(options.secrets));
  const outside = options.network && wireOutside(options.network, secrets);
  const { snapshot, tenant } = snapshotOf(options);
  const makePolicy = options.idle && (await policyMaker(options.idle));
  const native = options.sidecar === undefined ? await installation() : undefined;
  const begin = now();
  const { lease, opened, isOwn } = leaseFor(options, native, mounts);
  if (options.walls === 'required' && !isOwn) requireWalls(lease.connection);
  const { connection, policy } = makePolicy?.(lease.connection) ?? { connection: lease.connection, policy: undefined };
  // Programs of a snapshot run at once, so their bindings are part of the request. A new runtime
  // gets its bindings by a later request.
  const restoredBindings = snapshot === undefined ? undefined : bindings && wireBindings(bindings);
  const releaseCalls = snapshot === undefined ? undefined : connection.expectCalls();
  lease.acquire();
  try {
    const supplied = outside && supplyRoots(lease.connection);
    const request = connection.createRuntime(
      {
        ...{ env, cwd, limits, profile, warn, files, mounts, permissions, outside, snapshot, tenant, weight },
        bindings: restoredBindings,
      },
      onLimitWarning,
    );
    const created = await whileLoadingParts(request);
    await supplied;
    const { runtime, restored } = created;
    if (fileSystems.length > 0) connection.serve(runtime, 'filesystem', fileSystemService(fileSystems));
    const registry = bindings || restored ? new BindingRegistry(connection, runtime, restored && bindings) : undefined;
    const completed = complete(connection, runtime, registry, restored ? undefined : bindings, later);
    // Restored programs run already. From here on the registry can handle their calls.
    releaseCalls?.();
    await completed;
    if (onBootTiming !== undefined) {
      const totalMs = now() - begin;
      reportCreation(onBootTiming, created, await opened, isOwn, totalMs);
    }
    const owner = tenant ?? DEFAULT_TENANT;
    return { lease, connection, policy, runtime, bindings: registry, tenant: owner, mounts, fileSystems, restored };
  } catch (error) {
    // `explainMissing` runs before the release, because the release may end the sidecar.
    const explained = explainMissing(error, options.snapshot, tenant ?? DEFAULT_TENANT);
    await lease.release()?.dispose();
    throw explained;
  } finally {
    releaseCalls?.();
  }
}

/** A connection with an idle policy. */
export interface IdleConnection {
  connection: SidecarConnection;
  policy: IdlePolicy<Snapshot>;
}

/**
 * Loads the modules of the idle policy. Returns a function that wraps a connection with a new
 * policy.
 */
export async function policyMaker(options: IdleOptions): Promise<(connection: SidecarConnection) => IdleConnection> {
  const [{ IdlePolicy }, { resumingConnection }] = await Promise.all([
    import('../idle/policy.js'),
    import('../idle/resuming-connection.js'),
  ]);
  return (connection) => {
    const policy = new IdlePolicy<Snapshot>(options);
    return { connection: resumingConnection(connection, policy), policy };
  };
}

// Converts the option `bindings`. The module is imported at its first use, because most runtimes
// have no bindings.
async function preparedBindings(bindings: Bindings): Promise<Binding[]> {
  const { bindingsOf } = await import('../bindings/binding.js');
  return bindingsOf('NodeRuntime.create()', bindings);
}

interface SnapshotSource {
  snapshot?: string | undefined;
  tenant?: string | undefined;
}

// Returns the fields of the request for the options `snapshot` and `tenant`. The tenant of a
// `Snapshot` applies if the option `tenant` is missing.
function snapshotOf({ snapshot, tenant }: NodeRuntimeOptions): SnapshotSource {
  if (snapshot === undefined || typeof snapshot === 'string') return { snapshot, tenant };
  return { snapshot: snapshot.id, tenant: tenant ?? snapshot.tenant };
}

interface OpenedLease {
  lease: SidecarLease;
  opened: Promise<Opened> | undefined;
  /** Whether the sidecar was started for this runtime. */
  isOwn: boolean;
}

// `native` is set if the option `sidecar` is missing.
function leaseFor(
  { sidecar, snapshot, walls }: NodeRuntimeOptions,
  native: Installation | undefined,
  mounts: readonly Mount[] | undefined,
): OpenedLease {
  if (sidecar !== undefined) {
    const { connection, opened } = openingOf(sidecar);
    return { lease: new SidecarLease(connection), opened, isOwn: false };
  }
  const origin = originOf(snapshot);
  if (origin?.isOpen()) return { lease: origin, opened: undefined, isOwn: false };
  const roots = (mounts ?? []).filter(({ fileSystem }) => fileSystem === undefined).map(({ hostPath }) => hostPath);
  const { connection, opened } = openProcess(native as Installation, { walls }, roots);
  return { lease: new SidecarLease(connection, connection), opened, isOwn: true };
}

// Sends the files and bindings that were not part of the request that created the runtime. Disposes
// the runtime after a failure.
async function complete(
  connection: SidecarConnection,
  runtime: RuntimeId,
  registry: BindingRegistry | undefined,
  bindings: readonly Binding[] | undefined,
  files: [string, Uint8Array][],
): Promise<void> {
  const registered = bindings === undefined ? undefined : registry?.add(bindings);
  try {
    for (const [path, data] of files) await writeFile(connection, runtime, path, data);
    await registered;
  } catch (error) {
    registered?.catch(() => {});
    await connection.disposeRuntime(runtime);
    throw error;
  }
}

// Converts limits to the fields of the request. The profile is a separate field.
// `fetchResponseBytes` is not sent, because `network/runtime-network.ts` enforces that limit.
function limitsOf(options: Limits | undefined): Pick<RuntimeCreate, 'profile' | 'limits'> {
  if (options === undefined) return {};
  const { profile, fetchResponseBytes: _own, ...limits } = options;
  return { profile, limits };
}

/** Returns options whose secrets have an edge process: `network` is `{}` unless it is set. */
export function withNetwork<T extends Pick<NodeRuntimeOptions, 'network' | 'secrets'>>(options: T): T {
  return options.secrets === undefined || options.network !== undefined ? options : { ...options, network: {} };
}
