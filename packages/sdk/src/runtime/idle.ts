// What becomes of a runtime that nobody uses: after a time it goes to sleep on disk, and the next call wakes it; or it is disposed of.
//
// In use is what has been asked and is not answered yet, and what is open: a program that runs, a stream, a watch, a connection. A resident runner that waits for
// its next snippet is not in use, and sleeps with the runtime. Next: `wakeful.ts`, how calls come through here.

import { callListener } from '../call-listener.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { isColdframeError } from '../errors/error.js';
import type { IdleOptions } from '../options/idle.js';
import { wakeful } from './wakeful.js';

/** What a runtime sleeps on, on disk. */
export interface Saved {
  delete(): Promise<unknown>;
}

/** What the policy can do with the runtime. */
export interface Sleeper<P extends Saved = Saved> {
  /** Puts it to sleep. */
  pause(): Promise<P>;
  resume(): Promise<void>;
  dispose(): Promise<void>;
  /** Whether it is disposed of, or its sidecar is gone: there is nothing left to put to sleep. */
  isOver(): boolean;
}

// After a failure it waits longer, up to so many times as long.
const LONGEST = 1_024;

/** See the module. */
export class IdlePolicy<P extends Saved = Saved> {
  readonly #options: IdleOptions;
  #runtime: Sleeper<P> | undefined;
  #uses = 0;
  #timer: NodeJS.Timeout | undefined;
  // On its way to sleep; and then what it sleeps on.
  #going: Promise<void> | undefined;
  #saved: P | undefined;
  #waking: Promise<void> | undefined;
  // What it slept on last is being taken away.
  #removing: Promise<void> | undefined;
  #patience = 1;
  #over = false;

  constructor(options: IdleOptions) {
    this.#options = options;
  }

  /** From now on it counts, for that runtime; also when the app has woken it itself. */
  begin(runtime: Sleeper<P> | undefined = this.#runtime): void {
    this.#runtime = runtime;
    this.#over = false;
    if (this.#uses === 0) this.#watch();
  }

  /** `connection` as the runtime has it: what is asked through it wakes it, and keeps it awake. */
  through<C extends SidecarConnection>(connection: C): C {
    return wakeful(connection, this);
  }

  /** The same for another runtime. */
  another(): IdlePolicy<P> {
    return new IdlePolicy<P>(this.#options);
  }

  /** Whether it sleeps, or is on its way there or back, because of the policy. */
  get isAsleep(): boolean {
    return this.#going !== undefined || this.#saved !== undefined;
  }

  /** Somebody uses it, from now until the function that this gives is called. */
  use(): () => void {
    this.#uses++;
    clearTimeout(this.#timer);
    let used = true;
    return () => {
      if (!used) return;
      used = false;
      if (--this.#uses === 0) this.#watch();
    };
  }

  /** Nothing when it is awake, or the app has taken over: then it is the sidecar that answers. Otherwise a promise that it is awake, which all share who ask while it wakes. */
  ready(): Promise<void> | undefined {
    if (!this.isAsleep || (this.#over && this.#waking === undefined)) return undefined;
    this.#waking ??= this.#wake().finally(() => {
      this.#waking = undefined;
    });
    return this.#waking;
  }

  /** The app has disposed of it: what it sleeps on goes. */
  async end(): Promise<void> {
    const saved = await this.stop();
    await Promise.all([this.#removing, this.#remove(saved)]);
  }

  /** Does nothing more from now on, until `begin()`. When it is not awake this gives a promise: what it sleeps on, if it does in the end. */
  stop(): Promise<P | undefined> | undefined {
    this.#over = true;
    clearTimeout(this.#timer);
    return this.isAsleep ? this.#handOver() : undefined;
  }

  /** What `stop()` gave is its own again: the app has not taken over. */
  takeBack(saved: P | undefined): void {
    this.#saved = saved;
  }

  async #handOver(): Promise<P | undefined> {
    await this.#going;
    await this.#waking?.catch(() => {});
    const saved = this.#saved;
    this.#saved = undefined;
    return saved;
  }

  #watch(): void {
    const runtime = this.#runtime;
    if (this.#over || this.isAsleep || runtime === undefined) return;
    clearTimeout(this.#timer);
    const { afterMs, action } = this.#options;
    const ms = Math.min(2_147_483_647, afterMs * this.#patience);
    this.#timer = setTimeout(() => (action === 'pause' ? this.#sleep(runtime) : this.#leave(runtime)), ms);
    this.#timer.unref();
  }

  #leave(runtime: Sleeper<P>): void {
    this.#over = true;
    runtime.dispose().catch(this.#tell);
  }

  // When it fails the runtime is as it was, and whoever called meanwhile goes on with it. When there is nothing left of it, that is for its calls to say.
  #sleep(runtime: Sleeper<P>): void {
    if (runtime.isOver()) return;
    const sleep = async (): Promise<void> => {
      try {
        this.#saved = await runtime.pause();
        this.#patience = 1;
      } catch (error) {
        this.#patience = Math.min(LONGEST, this.#patience * 2);
        if (!runtime.isOver()) this.#tell(error);
      } finally {
        this.#going = undefined;
      }
      if (this.#uses === 0) this.#watch();
    };
    this.#going = sleep();
  }

  async #wake(): Promise<void> {
    await this.#going;
    const saved = this.#saved;
    if (saved === undefined) return;
    await this.#runtime?.resume();
    this.#saved = undefined;
    this.#removing = this.#remove(saved);
    if (this.#uses === 0) this.#watch();
  }

  // Gone already is as good, and what died with its sidecar is the store's to clear.
  async #remove(saved: P | undefined): Promise<void> {
    try {
      await saved?.delete();
    } catch (error) {
      if (!isColdframeError(error, 'ERR_SNAPSHOT_NOT_FOUND', 'ERR_SIDECAR_EXITED', 'ERR_SIDECAR_DISPOSED')) this.#tell(error);
    }
  }

  // No call has failed, so no call can tell it.
  readonly #tell = (error: unknown): void => {
    const { onError } = this.#options;
    if (onError !== undefined) callListener(() => onError(error));
    else process.emitWarning(error instanceof Error ? error : String(error));
  };
}
