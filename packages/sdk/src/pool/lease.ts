// A slot that somebody has: the runtime to use and the way to give it back, once.

import { asyncDispose } from '../async-dispose.js';
import type { Guard } from './guard.js';
import type { PoolableRuntime } from './poolable.js';

/** A runtime of a pool that is yours until you give it back. */
export interface PoolLease<R> extends AsyncDisposable {
  /** The runtime. It refuses calls once it is given back. */
  readonly runtime: R;
  /** Gives it back. Returns at once: whatever has to be cleaned is cleaned later. Once is enough, twice is fine. */
  release(): void;
  /** Gives it back as unusable: it is ended, and nobody gets it any more. */
  discard(): void;
}

/** See the module. */
export class Lease<R extends PoolableRuntime> implements PoolLease<R> {
  /** Told when the pool takes the slot away. */
  onRevoked: ((error: Error) => void) | undefined;
  readonly #guard: Guard<R>;
  readonly #giveBack: (fit: boolean) => void;
  #open = true;

  constructor(guard: Guard<R>, giveBack: (fit: boolean) => void) {
    this.#guard = guard;
    this.#giveBack = giveBack;
  }

  get runtime(): R {
    return this.#guard.runtime;
  }

  release(): void {
    this.#end(this.#guard.fit);
  }

  discard(): void {
    this.#end(false);
  }

  /** The pool needs it back, whatever its user is doing. */
  revoke(error: Error): void {
    this.onRevoked?.(error);
    this.discard();
  }

  async [asyncDispose](): Promise<void> {
    this.release();
  }

  #end(fit: boolean): void {
    if (!this.#open) return;
    this.#open = false;
    this.#guard.close();
    this.#giveBack(fit);
  }
}
