// The idle policy of a runtime: pauses or disposes the runtime after a time without use, and
// resumes a paused runtime for the next call.
//
// A runtime is in use while a request is pending, a program runs, or a stream, a watch or a
// connection is open. A resident runner that waits for its next snippet does not count as use. The
// runner is paused with the runtime. Next: `resuming-connection.ts`, which calls the policy for
// every request.

import { callListener } from '../call-listener.js';
import { isColdframeError } from '../errors/error.js';
import type { IdleOptions } from '../options/idle.js';
import { MAX_TIMER_MS } from '../options/rule.js';

/** The snapshot that stores a paused runtime. */
export interface PauseSnapshot {
  delete(): Promise<unknown>;
}

/** The policy's interface to its runtime. */
export interface PausableRuntime<S extends PauseSnapshot = PauseSnapshot> {
  pause(): Promise<S>;
  resume(): Promise<void>;
  dispose(): Promise<void>;
  /**
   * Returns whether the runtime is disposed or its sidecar has ended. Such a runtime cannot be
   * paused.
   */
  isOver(): boolean;
}

/** The longest delay after failures, as a multiple of `afterMs`. */
const MAX_DELAY = 1_024;

/** The idle policy of one runtime. */
export class IdlePolicy<S extends PauseSnapshot = PauseSnapshot> {
  /** The options of the policy, with which the policy of a clone is made. */
  readonly options: IdleOptions;
  #runtime: PausableRuntime<S> | undefined;
  #uses = 0;
  #timer: NodeJS.Timeout | undefined;
  #pausing: Promise<void> | undefined;
  /** The snapshot of the paused runtime. */
  #snapshot: S | undefined;
  #resuming: Promise<void> | undefined;
  /** The deletion of the previous pause's snapshot. */
  #deletion: Promise<void> | undefined;
  #delay = 1;
  #stopped = false;

  constructor(options: IdleOptions) {
    this.options = options;
  }

  /**
   * Starts the policy for a runtime. Called again, restarts the policy after the app itself has
   * resumed the runtime.
   */
  start(runtime: PausableRuntime<S> | undefined = this.#runtime): void {
    this.#runtime = runtime;
    this.#stopped = false;
    if (this.#uses === 0) this.#startTimer();
  }

  /** Whether the policy has paused the runtime, or is pausing or resuming it. */
  get isPaused(): boolean {
    return this.#pausing !== undefined || this.#snapshot !== undefined;
  }

  /** Keeps the runtime running until the returned function is called. */
  use(): () => void {
    this.#uses++;
    clearTimeout(this.#timer);
    let used = true;
    return () => {
      if (!used) return;
      used = false;
      if (--this.#uses === 0) this.#startTimer();
    };
  }

  /**
   * Returns `undefined` if the runtime is running, or if the app has paused the runtime itself. In
   * the second case the sidecar refuses the request. Otherwise returns a promise of the resumption,
   * which concurrent callers share.
   */
  ready(): Promise<void> | undefined {
    if (!this.isPaused || (this.#stopped && this.#resuming === undefined)) return undefined;
    this.#resuming ??= this.#resume().finally(() => {
      this.#resuming = undefined;
    });
    return this.#resuming;
  }

  /**
   * Runs `work` when the runtime is running, and keeps the runtime running until `work` settles.
   */
  during<T>(work: () => T): T | Promise<Awaited<T>> {
    const done = this.use();
    const ready = this.ready();
    let result: T | Promise<T>;
    try {
      result = ready === undefined ? work() : ready.then(work);
    } catch (error) {
      done();
      throw error;
    }
    if (!(result instanceof Promise)) {
      done();
      return result;
    }
    return result.finally(done) as Promise<Awaited<T>>;
  }

  /** Ends the policy of a disposed runtime and deletes the snapshot of the policy's pause. */
  async end(): Promise<void> {
    const snapshot = await this.stop();
    await Promise.all([this.#deletion, this.#delete(snapshot)]);
  }

  /**
   * Stops the policy until `start()`. If the policy has paused the runtime, returns a promise of
   * the snapshot. The promise is `undefined` if the pause failed or the runtime was resumed
   * meanwhile.
   */
  stop(): Promise<S | undefined> | undefined {
    this.#stopped = true;
    clearTimeout(this.#timer);
    return this.isPaused ? this.#handOver() : undefined;
  }

  /** Restores the field `#snapshot` after `stop()`, because the app's own pause failed. */
  takeBack(snapshot: S | undefined): void {
    this.#snapshot = snapshot;
  }

  async #handOver(): Promise<S | undefined> {
    await this.#pausing;
    await this.#resuming?.catch(() => {});
    const snapshot = this.#snapshot;
    this.#snapshot = undefined;
    return snapshot;
  }

  #startTimer(): void {
    const runtime = this.#runtime;
    if (this.#stopped || this.isPaused || runtime === undefined) return;
    clearTimeout(this.#timer);
    const { afterMs, action } = this.options;
    const ms = Math.min(MAX_TIMER_MS, afterMs * this.#delay);
    this.#timer = setTimeout(() => (action === 'pause' ? this.#pause(runtime) : this.#dispose(runtime)), ms);
    this.#timer.unref();
  }

  #dispose(runtime: PausableRuntime<S>): void {
    this.#stopped = true;
    runtime.dispose().catch(this.#report);
  }

  // After a failure the runtime is unchanged, and calls that waited continue. A failure is not
  // reported if the runtime is disposed, because its calls fail anyway.
  #pause(runtime: PausableRuntime<S>): void {
    if (runtime.isOver()) return;
    const pause = async (): Promise<void> => {
      try {
        this.#snapshot = await runtime.pause();
        this.#delay = 1;
      } catch (error) {
        this.#delay = Math.min(MAX_DELAY, this.#delay * 2);
        if (!runtime.isOver()) this.#report(error);
      } finally {
        this.#pausing = undefined;
      }
      if (this.#uses === 0) this.#startTimer();
    };
    this.#pausing = pause();
  }

  async #resume(): Promise<void> {
    await this.#pausing;
    const snapshot = this.#snapshot;
    if (snapshot === undefined) return;
    await this.#runtime?.resume();
    this.#snapshot = undefined;
    this.#deletion = this.#delete(snapshot);
    if (this.#uses === 0) this.#startTimer();
  }

  // A snapshot that the store no longer has needs no deletion. If the sidecar has ended, the store
  // may evict the snapshot later.
  async #delete(snapshot: S | undefined): Promise<void> {
    try {
      await snapshot?.delete();
    } catch (error) {
      if (!isColdframeError(error, 'ERR_SNAPSHOT_NOT_FOUND', 'ERR_SIDECAR_EXITED', 'ERR_SIDECAR_DISPOSED')) this.#report(error);
    }
  }

  // Passes an error to `onError`, because no call can report the error. Without `onError`, emits a
  // warning of the process.
  readonly #report = (error: unknown): void => {
    const { onError } = this.options;
    if (onError !== undefined) callListener(() => onError(error));
    else process.emitWarning(error instanceof Error ? error : String(error));
  };
}
