// The source of a pool's runtimes: the template and the sidecar. The template and the sidecar each
// belong to the caller or to the pool. A slot is restored from the template and rolled back to the
// template.
//
// If the pool's own sidecar exits, the next runtime starts another sidecar, with another template.
// The pool does not restart a sidecar of the caller.

import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { isColdframeError } from '../errors/error.js';
import { invalidOption, poolDisposed } from '../errors/make.js';
import { show } from '../options/show.js';
import { DEFAULT_TENANT } from '../options/snapshots.js';
import { NodeRuntime, partsOf } from '../runtime/node-runtime.js';
import type { RuntimeParts } from '../runtime/parts.js';
import type { SidecarLease } from '../sidecar/lease.js';
import { openingOf } from '../sidecar/openings.js';
import { Sidecar } from '../sidecar/sidecar.js';
import type { Snapshot } from '../sidecar/snapshot.js';
import { originOf } from '../sidecar/snapshot-origin.js';
import { HANDLE_CALLS, PART_CALLS, RUNTIME_CALLS } from './call-rules.js';
import type { RuntimePoolOptions } from './options.js';
import type { Loss, SlotSource } from './slot-source.js';
import { Template } from './template.js';

/** The template of runtimes, and their sidecar. */
interface RuntimeOrigin {
  template: Snapshot;
  /** Missing if the sidecar of the `Snapshot` is used. */
  sidecar?: Sidecar;
}

/** The source of one pool. */
export class RuntimeSource implements SlotSource<NodeRuntime> {
  readonly calls = RUNTIME_CALLS;
  readonly handleCalls = HANDLE_CALLS;
  readonly partCalls = PART_CALLS;
  /** The owner of the template. */
  readonly tenant: string;
  readonly #options: RuntimePoolOptions;
  /** The lease of the sidecar of the option `snapshot`, if the pool uses that sidecar. */
  #lease: SidecarLease | undefined;
  /** The origin of new runtimes. Missing until the first runtime is requested. */
  #opening: Promise<RuntimeOrigin> | undefined;
  #latest: RuntimeOrigin | undefined;
  readonly #origins = new WeakMap<NodeRuntime, RuntimeOrigin>();
  #ownSidecar: Promise<Sidecar> | undefined;
  #template: Template | undefined;
  /**
   * The id of a snapshot that was found by its name. A later snapshot with the name is not used.
   */
  #snapshotId: string | undefined;
  #connection: SidecarConnection | undefined;
  #closed = false;

  constructor(options: RuntimePoolOptions) {
    this.#options = options;
    const { snapshot, tenant } = options;
    this.tenant = tenant ?? (typeof snapshot === 'object' ? snapshot.tenant : DEFAULT_TENANT);
    // The lease is acquired for the life of the pool, because the snapshot's runtime may be
    // disposed before the first slot is made.
    const lease = options.sidecar === undefined ? originOf(snapshot) : undefined;
    if (lease?.isOpen()) {
      lease.acquire();
      this.#lease = lease;
    }
  }

  // In the store, the snapshots of all slots belong to the template's tenant, and names and lists
  // are shared within a tenant. So slots of other tenants may use ids only, which cannot be
  // guessed.
  assertOwn(tenant: string, method: PropertyKey, args: readonly unknown[]): void {
    if (tenant === this.tenant) return;
    const [first] = args;
    if (method === 'snapshots') throw refused('snapshots', "not to be used for another tenant than the pool's", tenant);
    if (method === 'snapshot' && (first as { name?: unknown } | undefined)?.name !== undefined) {
      throw refused('name', 'no name in a pool that is shared among tenants', (first as { name: unknown }).name);
    }
    if (method === 'rollback' && typeof first === 'string') {
      throw refused('snapshot', 'a Snapshot in a pool that is shared among tenants', first);
    }
  }

  async make(): Promise<NodeRuntime> {
    const origin = await this.#open();
    try {
      return await this.#restoreFrom(origin);
    } catch (error) {
      if (!this.#isTemplateLost(origin, error)) throw error;
      return this.#restoreFrom(await this.#open());
    }
  }

  // Restores the template that the runtime was made from. Another template results from another
  // call of `prepare`, and may have another content.
  async restore(runtime: NodeRuntime): Promise<void> {
    const origin = this.#origins.get(runtime) as RuntimeOrigin;
    try {
      await runtime.rollback(origin.template);
    } catch (error) {
      this.#isTemplateLost(origin, error);
      throw error;
    }
  }

  pause(runtime: NodeRuntime): Promise<Snapshot> {
    return (partsOf(runtime) as RuntimeParts).pause.pauseTemporarily();
  }

  lost(): Promise<Loss> | undefined {
    const connection = this.#connection;
    if (connection === undefined || !connection.isOver()) return undefined;
    const [ownSidecar, template] = [this.#ownSidecar, this.#template];
    this.#connection = this.#opening = this.#ownSidecar = this.#template = undefined;
    return this.#endLost(connection, ownSidecar, template);
  }

  abandon(reason: Error): void {
    this.#template?.stop(reason);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const [ownSidecar, template] = [this.#ownSidecar, this.#template];
    this.#opening = this.#ownSidecar = this.#template = undefined;
    const ended = template?.end(poolDisposed(false));
    // If the pool has its own sidecar, the end of the sidecar also deletes the template.
    await (ownSidecar === undefined ? ended : disposeSidecar(ownSidecar));
    await this.#lease?.release()?.dispose();
    this.#lease = undefined;
  }

  async #endLost(
    connection: SidecarConnection,
    ownSidecar: Promise<Sidecar> | undefined,
    template: Template | undefined,
  ): Promise<Loss> {
    const error = await connection.request('ping', {}).catch((reason: unknown) => reason);
    template?.stop(error as Error);
    await disposeSidecar(ownSidecar);
    return { error, final: ownSidecar === undefined };
  }

  async #restoreFrom(origin: RuntimeOrigin): Promise<NodeRuntime> {
    const { template, sidecar } = origin;
    const { files: _inTemplate, permissions: _inTemplateToo, python: _also, ...options } = this.#options.options ?? {};
    const reattached = this.#options.snapshot === undefined ? options : this.#options.options;
    const own = { snapshot: template, tenant: this.tenant, ...(sidecar && { sidecar }) };
    const runtime = await NodeRuntime.create({ ...reattached, ...own });
    this.#origins.set(runtime, origin);
    return runtime;
  }

  // Returns whether the store has evicted the pool's own template, so that another template must be
  // made.
  #isTemplateLost(origin: RuntimeOrigin, error: unknown): boolean {
    if (this.#options.snapshot !== undefined || !isColdframeError(error, 'ERR_SNAPSHOT_NOT_FOUND')) return false;
    // The first call after the loss makes another template, which later calls share.
    if (this.#latest === origin) this.#opening = this.#latest = undefined;
    return true;
  }

  #open(): Promise<RuntimeOrigin> {
    if (this.#opening === undefined) {
      const opening = this.#findOrigin();
      this.#opening = opening;
      // The callers of this attempt get the error. The next call tries again.
      opening.catch(() => {
        if (this.#opening === opening) this.#opening = undefined;
      });
    }
    return this.#opening;
  }

  async #findOrigin(): Promise<RuntimeOrigin> {
    if (this.#closed) throw poolDisposed(false);
    const { sidecar: callerSidecar, snapshot } = this.#options;
    if (this.#lease !== undefined) {
      this.#connection = this.#lease.connection;
      return { template: snapshot as Snapshot };
    }
    const sidecar = callerSidecar ?? (await this.#spawnSidecar());
    const { connection } = openingOf(sidecar);
    try {
      const template = await this.#findTemplate(sidecar);
      this.#connection = connection;
      this.#latest = { template, sidecar };
      return this.#latest;
    } catch (error) {
      // The next attempt uses the sidecar again if the sidecar is alive.
      if (callerSidecar === undefined && connection.isOver()) await this.#discardSidecar(sidecar);
      throw error;
    }
  }

  // A name is resolved once, because a later snapshot may have the same name.
  async #findTemplate(sidecar: Sidecar): Promise<Snapshot> {
    const { snapshot } = this.#options;
    const { tenant } = this;
    if (snapshot === undefined) {
      this.#template = new Template(this.#options, sidecar, tenant);
      return this.#template.ready;
    }
    const reference = this.#snapshotId ?? (typeof snapshot === 'string' ? snapshot : snapshot.id);
    const found = await sidecar.snapshots.get(reference, { tenant });
    this.#snapshotId = found.id;
    return found;
  }

  #spawnSidecar(): Promise<Sidecar> {
    if (this.#ownSidecar === undefined) {
      const spawned = Sidecar.spawn();
      this.#ownSidecar = spawned;
      spawned.catch(() => {
        if (this.#ownSidecar === spawned) this.#ownSidecar = undefined;
      });
    }
    return this.#ownSidecar;
  }

  async #discardSidecar(sidecar: Sidecar): Promise<void> {
    const own = this.#ownSidecar;
    if ((await own) === sidecar && this.#ownSidecar === own) this.#ownSidecar = undefined;
    await sidecar.dispose();
  }
}

async function disposeSidecar(sidecar: Promise<Sidecar> | undefined): Promise<void> {
  await (await sidecar?.catch(() => undefined))?.dispose();
}

function refused(option: string, expected: string, value: unknown): Error {
  return invalidOption('a runtime of RuntimePool', { option, expected, received: show(value) });
}
