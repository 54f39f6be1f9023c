// The template of a pool that was given none: a runtime is made and prepared, and a snapshot of it is what every slot is a copy of.
//
// What prepares it is the app's and may never come to an end. So nobody waits for it once the pool is closed or the time is over.

import { type Deferred, deferred } from '../deferred.js';
import { isColdframeError } from '../errors/error.js';
import { poolTimeout } from '../errors/make.js';
import type { RuntimePoolOptions } from '../options/pool.js';
import { NodeRuntime } from '../runtime/node-runtime.js';
import type { Sidecar } from '../sidecar/sidecar.js';
import type { Snapshot } from '../snapshots/snapshot.js';

/** How long it may take to be made. Far more than a slot: packages may have to be loaded for it. */
const TEMPLATE_MS = 120_000;

/** See the module. */
export class Template {
  /** The snapshot, when it is there. */
  readonly ready: Promise<Snapshot>;
  readonly #stopped: Deferred<never> = deferred();
  #reason: Error | undefined;

  constructor(options: RuntimePoolOptions, sidecar: Sidecar, tenant: string) {
    // Who waits for nothing any more need not hear of it.
    this.#stopped.promise.catch(() => {});
    this.ready = this.#make(options, sidecar, tenant);
    this.ready.catch(() => {});
  }

  /** Nobody waits for it any more, unless it is there already. */
  stop(reason: Error): void {
    this.#stopped.reject(reason);
    this.#reason ??= reason;
  }

  /** Takes it away, or what there is of it. */
  async end(reason: Error): Promise<void> {
    this.stop(reason);
    const snapshot = await this.ready.catch(() => undefined);
    try {
      await snapshot?.delete();
    } catch (error) {
      if (!isColdframeError(error)) throw error; // it is gone already, or its sidecar is
    }
  }

  async #make({ options, prepare }: RuntimePoolOptions, sidecar: Sidecar, tenant: string): Promise<Snapshot> {
    const runtime = await NodeRuntime.create({ ...options, sidecar, tenant });
    const late = (): void => this.stop(poolTimeout({ timeoutMs: TEMPLATE_MS }));
    const timer = setTimeout(late, TEMPLATE_MS).unref();
    try {
      if (this.#reason !== undefined) throw this.#reason;
      await Promise.race([prepare?.(runtime), this.#stopped.promise]);
      return await runtime.snapshot();
    } finally {
      clearTimeout(timer);
      await runtime.dispose();
    }
  }
}
