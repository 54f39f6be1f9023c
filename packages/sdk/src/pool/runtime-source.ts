// Where a pool's runtimes come from: a snapshot, the caller's or one that is taken here, in a sidecar, the caller's or one of the pool's own. Each slot
// is made from it and goes back to it.
//
// One of the pool's own that dies is started anew by the next runtime that is needed, and so is everything that was in it. A sidecar of somebody else's is
// theirs to start again.

import { isColdframeError } from '../errors/error.js';
import { invalidOption } from '../errors/make.js';
import type { RuntimePoolOptions } from '../options/pool.js';
import { show } from '../options/show.js';
import { DEFAULT_TENANT } from '../options/snapshots.js';
import { NodeRuntime } from '../runtime/node-runtime.js';
import type { Opening, SidecarConnection } from '../sidecar/connection.js';
import { openingOf } from '../sidecar/connections.js';
import type { Household } from '../sidecar/household.js';
import { Sidecar } from '../sidecar/sidecar.js';
import { knownOf } from '../snapshots/known.js';
import type { Snapshot } from '../snapshots/snapshot.js';
import { HANDLE_CALLS, RUNTIME_CALLS } from './calls.js';
import type { Loss, SlotSource } from './poolable.js';

/** See the module. */
export class RuntimeSource implements SlotSource<NodeRuntime> {
  readonly calls = RUNTIME_CALLS;
  readonly handleCalls = HANDLE_CALLS;
  /** Whose the template is. */
  readonly tenant: string;
  readonly #options: RuntimePoolOptions;
  // That of the snapshot, while it lives.
  #household: Household | undefined;
  // Where the runtimes are, from the moment on at which the first is asked for.
  #place: Promise<Place> | undefined;
  #connection: SidecarConnection | undefined;

  constructor(options: RuntimePoolOptions) {
    this.#options = options;
    const { snapshot, tenant } = options;
    this.tenant = tenant ?? (typeof snapshot === 'object' ? snapshot.tenant : DEFAULT_TENANT);
    // From now on and for as long as the pool lives: the runtime that the snapshot is of may go before the first slot is made.
    const household = options.sidecar === undefined ? knownOf(snapshot)?.household : undefined;
    if (household?.isOpen()) {
      household.join();
      this.#household = household;
    }
  }

  // All slots lie under the template's tenant, and names and lists in the store are for all of it: of what other tenants' slots keep there only ids can be used,
  // which nobody can guess.
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
    const { template, sidecar } = await this.#opened();
    const { files: _inTemplate, ...options } = this.#options.options ?? {};
    const reattached = this.#options.snapshot === undefined ? options : this.#options.options;
    return NodeRuntime.create({ ...reattached, snapshot: template, tenant: this.tenant, ...(sidecar && { sidecar }) });
  }

  async restore(runtime: NodeRuntime): Promise<void> {
    const { template } = await this.#opened();
    await runtime.rollback(template);
  }

  lost(): Promise<Loss> | undefined {
    const connection = this.#connection;
    if (connection === undefined || !connection.isOver()) return undefined;
    const place = this.#place;
    this.#connection = undefined;
    this.#place = undefined;
    return this.#mourn(connection, place);
  }

  async close(): Promise<void> {
    const place = await this.#place?.catch(() => undefined);
    this.#place = undefined;
    await place?.leave();
    await this.#household?.leave()?.dispose();
    this.#household = undefined;
  }

  async #mourn(connection: SidecarConnection, place: Promise<Place> | undefined): Promise<Loss> {
    const error = await connection.ping().catch((reason: unknown) => reason);
    const { own } = (await place?.catch(() => undefined)) ?? {};
    await own?.dispose();
    return { error, final: own === undefined };
  }

  #opened(): Promise<Place> {
    if (this.#place === undefined) {
      const place = this.#open();
      this.#place = place;
      // Whoever asked is told; the next one tries again.
      place.catch(() => {
        if (this.#place === place) this.#place = undefined;
      });
    }
    return this.#place;
  }

  async #open(): Promise<Place> {
    const { sidecar: given, snapshot } = this.#options;
    if (this.#household !== undefined) {
      this.#connection = this.#household.connection;
      return { template: snapshot as Snapshot, leave: async () => {} };
    }
    const sidecar = given ?? (await Sidecar.spawn());
    const own = given === undefined ? sidecar : undefined;
    try {
      const template = await this.#template(sidecar);
      this.#connection = (openingOf(sidecar) as Opening).connection;
      return { template, sidecar, own, leave: () => this.#leave(template, own) };
    } catch (error) {
      await own?.dispose();
      throw error;
    }
  }

  // By its id from now on: of a name the newest counts, and that may be another one tomorrow.
  async #template(sidecar: Sidecar): Promise<Snapshot> {
    const { snapshot, options, prepare } = this.#options;
    const { tenant } = this;
    if (snapshot !== undefined) return sidecar.snapshots.get(typeof snapshot === 'string' ? snapshot : snapshot.id, { tenant });
    const runtime = await NodeRuntime.create({ ...options, sidecar, tenant });
    try {
      await prepare?.(runtime);
      return await runtime.snapshot();
    } finally {
      await runtime.dispose();
    }
  }

  async #leave(template: Snapshot, own: Sidecar | undefined): Promise<void> {
    if (own !== undefined) return own.dispose();
    if (this.#options.snapshot !== undefined) return;
    try {
      await template.delete();
    } catch (error) {
      if (!isColdframeError(error)) throw error; // it is gone already, or its sidecar is
    }
  }
}

interface Place {
  template: Snapshot;
  /** Where to make runtimes, when the template does not say it. */
  sidecar?: Sidecar;
  /** The same, when it is the pool's. */
  own?: Sidecar | undefined;
  leave(): Promise<void>;
}

function refused(option: string, expected: string, value: unknown): Error {
  return invalidOption('a runtime of RuntimePool', { option, expected, received: show(value) });
}
