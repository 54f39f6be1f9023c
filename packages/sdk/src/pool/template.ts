// The template of a pool without the option `snapshot`. A runtime is made and prepared, and every
// slot is restored from a snapshot of that runtime.
//
// `prepare` is the app's function and may never settle. A pool does not wait for `prepare` after
// the pool was closed or `TEMPLATE_MS` have passed.

import { type Deferred, deferred } from '../deferred.js';
import { isColdframeError } from '../errors/error.js';
import { poolTimeout } from '../errors/make.js';
import { NodeRuntime } from '../runtime/node-runtime.js';
import type { Sidecar } from '../sidecar/sidecar.js';
import type { Snapshot } from '../sidecar/snapshot.js';
import type { RuntimePoolOptions } from './options.js';

/**
 * Milliseconds until `prepare` must have settled. The time is longer than the deadline of a slot's
 * step, because `prepare` may load packages.
 */
const TEMPLATE_MS = 120_000;

/** The template of one sidecar. */
export class Template {
  /** Resolves with the snapshot. Rejects if the preparation fails or is ended. */
  readonly ready: Promise<Snapshot>;
  readonly #stopped: Deferred<never> = deferred();
  #reason: Error | undefined;

  constructor(options: RuntimePoolOptions, sidecar: Sidecar, tenant: string) {
    // The rejections need no handler if no call waits for the template.
    this.#stopped.promise.catch(() => {});
    this.ready = this.#make(options, sidecar, tenant);
    this.ready.catch(() => {});
  }

  /** Ends the preparation. Does nothing if the template is ready. */
  stop(reason: Error): void {
    this.#stopped.reject(reason);
    this.#reason ??= reason;
  }

  /** Ends the preparation and deletes the template. */
  async end(reason: Error): Promise<void> {
    this.stop(reason);
    const snapshot = await this.ready.catch(() => undefined);
    try {
      await snapshot?.delete();
    } catch (error) {
      // A `ColdframeError` means that the snapshot or its sidecar no longer exists.
      if (!isColdframeError(error)) throw error;
    }
  }

  async #make({ options, prepare }: RuntimePoolOptions, sidecar: Sidecar, tenant: string): Promise<Snapshot> {
    const runtime = await NodeRuntime.create({ ...options, sidecar, tenant });
    const onTimeout = (): void => this.stop(poolTimeout({ timeoutMs: TEMPLATE_MS }));
    const timer = setTimeout(onTimeout, TEMPLATE_MS).unref();
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
