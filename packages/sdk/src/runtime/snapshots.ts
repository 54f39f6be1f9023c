// Takes snapshots of one runtime, rolls the runtime back, and clones the runtime. Modules that are
// seldom needed are loaded at their first use. Next: `clones.ts`.

import { rolledBack } from '../errors/make.js';
import type { RuntimeNetwork } from '../network/runtime-network.js';
import { checkArgument, checkOptions } from '../options/check.js';
import type { NetworkOptions } from '../options/outside.js';
import type { SecretsOptions } from '../options/secrets.js';
import {
  CLONE_COUNT,
  type CloneOptions,
  type SingleCloneOptions,
  SNAPSHOT_REFERENCE,
  type SnapshotOptions,
} from '../options/snapshots.js';
import { inForce } from '../outside/policy.js';
import type { PidRegistry } from '../programs/pid-registry.js';
import type { Runners } from '../runner/runners.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';
import type { Snapshot } from '../sidecar/snapshot.js';
import { explainMissing } from '../sidecar/snapshot-origin.js';
import { SnapshotStore } from '../sidecar/snapshot-store.js';
import type { CloneSource } from './clones.js';
import { type ProvisionedRuntime, withNetwork } from './provision.js';

/** The parts of a runtime that snapshots read and a rollback changes. */
export interface SnapshotParts {
  readonly access: RuntimeAccess;
  readonly provisioned: ProvisionedRuntime;
  readonly pids: PidRegistry;
  readonly runners: Runners;
  network(): RuntimeNetwork;
  /** Returns whether the runtime is frozen in memory. The sidecar then refuses a snapshot. */
  isFrozen(): boolean;
  cloneSource(): CloneSource;
}

/** The calls of `NodeRuntime` for snapshots. */
export class RuntimeSnapshots {
  readonly #parts: SnapshotParts;
  #store: SnapshotStore | undefined;

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
  }

  get store(): SnapshotStore {
    const { lease, tenant } = this.#parts.provisioned;
    this.#store ??= new SnapshotStore(lease, tenant);
    return this.#store;
  }

  async take(options: SnapshotOptions): Promise<Snapshot> {
    checkOptions('snapshot()', options);
    this.#assertUsable();
    const { lease, connection, runtime } = this.#parts.provisioned;
    const { name, labels, store, timeoutMs, memory } = options;
    const disk = store === 'disk' ? true : undefined;
    const wire = await connection.request('snapshot.take', { runtime, name, labels, disk, timeoutMs, memory });
    const { Snapshot } = await import('../sidecar/snapshot.js');
    return new Snapshot(lease, wire);
  }

  async rollback(snapshot: Snapshot | string): Promise<void> {
    checkArgument('rollback()', 'snapshot', SNAPSHOT_REFERENCE, snapshot);
    this.#parts.access.assertUsable();
    const { provisioned, pids, runners, network } = this.#parts;
    const { connection, runtime, tenant } = provisioned;
    const id = typeof snapshot === 'string' ? snapshot : snapshot.id;
    try {
      const roll = () => connection.request('runtime.rollback', { runtime, snapshot: id });
      pids.rolledBack(await runners.renew(network().whileRestoring(rolledBack(), roll)));
    } catch (error) {
      throw explainMissing(error, snapshot, tenant);
    }
  }

  #assertUsable(): void {
    if (!this.#parts.isFrozen()) this.#parts.access.assertUsable();
  }

  /**
   * Clones the runtime `n` times, or once. `make` makes the handle of each clone, with its options
   * for outside connections and its secrets.
   */
  async clone<R>(
    n: number | SingleCloneOptions | undefined,
    options: CloneOptions,
    make: (provisioned: ProvisionedRuntime, network: NetworkOptions | undefined, secrets: SecretsOptions | undefined) => R,
  ): Promise<R | R[] | PromiseSettledResult<R>[]> {
    const isSingle = typeof n !== 'number';
    const given: CloneOptions = isSingle ? (n ?? {}) : options;
    const count = isSingle ? 1 : n;
    checkOptions('clone()', given);
    checkArgument('clone()', 'n', CLONE_COUNT, count);
    this.#assertUsable();
    const { cloneRuntime } = await import('./clones.js');
    this.#assertUsable();
    const settle = !isSingle && given.settle === true;
    const wanted: CloneOptions = { ...given, ...(settle ? { settle } : { settle: undefined }) };
    const source = this.#parts.cloneSource();
    const secrets = given.secrets ?? source.secrets.options;
    const { network } = withNetwork({ network: given.network === undefined ? source.network : inForce(given.network), secrets });
    const clones = await this.#parts.access.whileInUse(() => cloneRuntime({ ...source, network }, count, { ...wanted, secrets }));
    const handleOf = (clone: ProvisionedRuntime): R => make(clone, network, secrets);
    if (settle) return clones.map((clone) => settled(clone, handleOf));
    // Without `settle` the sidecar makes all clones or none.
    const failed = clones.find((clone) => clone instanceof Error);
    if (failed !== undefined) throw failed;
    const made = (clones as ProvisionedRuntime[]).map(handleOf);
    return isSingle ? (made[0] as R) : made;
  }
}

function settled<R>(clone: ProvisionedRuntime | Error, make: (provisioned: ProvisionedRuntime) => R): PromiseSettledResult<R> {
  return clone instanceof Error ? { status: 'rejected', reason: clone } : { status: 'fulfilled', value: make(clone) };
}
