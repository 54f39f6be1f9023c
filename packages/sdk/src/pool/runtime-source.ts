// Where a pool's runtimes come from: a snapshot, the caller's or one that is taken here, in a sidecar, the caller's or one of the pool's own. Each slot
// is made from it and goes back to it.
//
// One of the pool's own that dies is started anew by the next runtime that is needed, and so is everything that was in it. A sidecar of somebody else's is
// theirs to start again.

import type { Opening, SidecarConnection } from '../channel/sidecar-connection.js';
import { isColdframeError } from '../errors/error.js';
import { invalidOption, poolDisposed } from '../errors/make.js';
import type { RuntimePoolOptions } from '../options/pool.js';
import { show } from '../options/show.js';
import { DEFAULT_TENANT } from '../options/snapshots.js';
import { NodeRuntime } from '../runtime/node-runtime.js';
import { pauseForNow } from '../runtime/snapshot-methods.js';
import { openingOf } from '../sidecar/connections.js';
import type { Household } from '../sidecar/household.js';
import { Sidecar } from '../sidecar/sidecar.js';
import { knownOf } from '../snapshots/known.js';
import type { Snapshot } from '../snapshots/snapshot.js';
import { HANDLE_CALLS, RUNTIME_CALLS } from './calls.js';
import type { Loss, SlotSource } from './poolable.js';
import { Template } from './template.js';

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
  #latest: Place | undefined;
  readonly #origins = new WeakMap<NodeRuntime, Place>();
  #own: Promise<Sidecar> | undefined;
  #template: Template | undefined;
  // Of the snapshot that was found by a name: it stays the one, whatever is called so later.
  #id: string | undefined;
  #connection: SidecarConnection | undefined;
  #closed = false;

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
    const place = await this.#opened();
    try {
      return await this.#copy(place);
    } catch (error) {
      if (!this.#lacks(place, error)) throw error;
      return this.#copy(await this.#opened());
    }
  }

  // To what it was made from, and to no later template: not all that `prepare` does is taken back.
  async restore(runtime: NodeRuntime): Promise<void> {
    const place = this.#origins.get(runtime) as Place;
    try {
      await runtime.rollback(place.template);
    } catch (error) {
      this.#lacks(place, error);
      throw error;
    }
  }

  pause(runtime: NodeRuntime): Promise<Snapshot> {
    return pauseForNow(runtime);
  }

  lost(): Promise<Loss> | undefined {
    const connection = this.#connection;
    if (connection === undefined || !connection.isOver()) return undefined;
    const [own, template] = [this.#own, this.#template];
    this.#connection = this.#place = this.#own = this.#template = undefined;
    return this.#mourn(connection, own, template);
  }

  abandon(reason: Error): void {
    this.#template?.stop(reason);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const [own, template] = [this.#own, this.#template];
    this.#place = this.#own = this.#template = undefined;
    // What is being made in a sidecar that goes need not be waited for.
    const ended = template?.end(poolDisposed(false));
    await (own === undefined ? ended : endOf(own));
    await this.#household?.leave()?.dispose();
    this.#household = undefined;
  }

  async #mourn(connection: SidecarConnection, own: Promise<Sidecar> | undefined, template: Template | undefined): Promise<Loss> {
    const error = await connection.ping().catch((reason: unknown) => reason);
    template?.stop(error as Error);
    await endOf(own);
    return { error, final: own === undefined };
  }

  async #copy(place: Place): Promise<NodeRuntime> {
    const { template, sidecar } = place;
    const { files: _inTemplate, permissions: _inTemplateToo, ...options } = this.#options.options ?? {};
    const reattached = this.#options.snapshot === undefined ? options : this.#options.options;
    const own = { snapshot: template, tenant: this.tenant, ...(sidecar && { sidecar }) };
    const runtime = await NodeRuntime.create({ ...reattached, ...own });
    this.#origins.set(runtime, place);
    return runtime;
  }

  // Whether the store has had no room for the template any more, as when others keep much there. One of the pool's own is made anew then.
  #lacks(place: Place, error: unknown): boolean {
    if (this.#options.snapshot !== undefined || !isColdframeError(error, 'ERR_SNAPSHOT_NOT_FOUND')) return false;
    // The first who notices: the others go on with what that one begins.
    if (this.#latest === place) this.#place = this.#latest = undefined;
    return true;
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
    if (this.#closed) throw poolDisposed(false);
    const { sidecar: given, snapshot } = this.#options;
    if (this.#household !== undefined) {
      this.#connection = this.#household.connection;
      return { template: snapshot as Snapshot };
    }
    const sidecar = given ?? (await this.#ownSidecar());
    const { connection } = openingOf(sidecar) as Opening;
    try {
      const template = await this.#found(sidecar);
      this.#connection = connection;
      this.#latest = { template, sidecar };
      return this.#latest;
    } catch (error) {
      // One that lives is good for the next attempt.
      if (given === undefined && connection.isOver()) await this.#giveUp(sidecar);
      throw error;
    }
  }

  // By its id from now on: of a name the newest counts, and that may be another one tomorrow.
  async #found(sidecar: Sidecar): Promise<Snapshot> {
    const { snapshot } = this.#options;
    const { tenant } = this;
    if (snapshot === undefined) {
      this.#template = new Template(this.#options, sidecar, tenant);
      return this.#template.ready;
    }
    const found = await sidecar.snapshots.get(this.#id ?? (typeof snapshot === 'string' ? snapshot : snapshot.id), { tenant });
    this.#id = found.id;
    return found;
  }

  #ownSidecar(): Promise<Sidecar> {
    if (this.#own === undefined) {
      const own = Sidecar.spawn();
      this.#own = own;
      own.catch(() => {
        if (this.#own === own) this.#own = undefined;
      });
    }
    return this.#own;
  }

  async #giveUp(sidecar: Sidecar): Promise<void> {
    const own = this.#own;
    if ((await own) === sidecar && this.#own === own) this.#own = undefined;
    await sidecar.dispose();
  }
}

async function endOf(own: Promise<Sidecar> | undefined): Promise<void> {
  await (await own?.catch(() => undefined))?.dispose();
}

interface Place {
  template: Snapshot;
  /** Where to make runtimes, when the template does not say it. */
  sidecar?: Sidecar;
}

function refused(option: string, expected: string, value: unknown): Error {
  return invalidOption('a runtime of RuntimePool', { option, expected, received: show(value) });
}
