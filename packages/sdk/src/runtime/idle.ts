// What becomes of a runtime that nobody uses: after a time it goes to sleep on disk, and the next call wakes it; or it is disposed of.
//
// In use is what has been asked and is not answered yet, and what is open: a program that runs, a stream, a watch, a connection. A resident runner that waits for
// its next snippet is not in use, and sleeps with the runtime. Next: `wakeful.ts`, how calls come through here.

import type { IdleOptions } from '../options/idle.js';

/** What the policy can do with the runtime. */
export interface Sleeper {
  /** Puts it to sleep; what it gives takes away what that has left on disk. */
  pause(): Promise<{ delete(): Promise<unknown> }>;
  resume(): Promise<void>;
  dispose(): Promise<void>;
}

// After a failure it waits longer, up to so many times as long.
const LONGEST = 1_024;

/** See the module. */
export class IdlePolicy {
  readonly #options: IdleOptions;
  readonly #runtime: Sleeper;
  #uses = 0;
  #timer: NodeJS.Timeout | undefined;
  // On its way to sleep; and then what it sleeps on.
  #going: Promise<void> | undefined;
  #saved: { delete(): Promise<unknown> } | undefined;
  #waking: Promise<void> | undefined;
  #patience = 1;
  #over = false;

  constructor(options: IdleOptions, runtime: Sleeper) {
    this.#options = options;
    this.#runtime = runtime;
    this.#watch();
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

  /** Nothing when it is awake; otherwise a promise that it is. Whoever asks while it wakes waits for the same waking. */
  ready(): Promise<void> | undefined {
    if (!this.isAsleep) return undefined;
    this.#waking ??= this.#wake().finally(() => {
      this.#waking = undefined;
    });
    return this.#waking;
  }

  /** Does nothing more: the app has disposed of it, or put it to sleep itself. What the policy has left on disk goes, unless the app has it now. */
  async end(keep = false): Promise<void> {
    this.#over = true;
    clearTimeout(this.#timer);
    await this.#going;
    const saved = this.#saved;
    this.#saved = undefined;
    if (!keep) await saved?.delete().catch(this.#tell);
  }

  /** It counts again: the app has woken it. */
  begin(): void {
    this.#over = false;
    if (this.#uses === 0) this.#watch();
  }

  #watch(): void {
    if (this.#over) return;
    clearTimeout(this.#timer);
    const { afterMs, action } = this.#options;
    const ms = Math.min(2_147_483_647, afterMs * this.#patience);
    this.#timer = setTimeout(() => void (action === 'pause' ? this.#sleep() : this.#leave()), ms);
    this.#timer.unref();
  }

  async #leave(): Promise<void> {
    this.#over = true;
    await this.#runtime.dispose().catch(this.#tell);
  }

  // When it fails the runtime is as it was, and whoever called meanwhile goes on with it.
  #sleep(): Promise<void> {
    const sleep = async (): Promise<void> => {
      try {
        this.#saved = await this.#runtime.pause();
        this.#patience = 1;
      } catch (error) {
        this.#patience = Math.min(LONGEST, this.#patience * 2);
        this.#tell(error);
      } finally {
        this.#going = undefined;
      }
      if (this.#saved === undefined && this.#uses === 0) this.#watch();
    };
    this.#going = sleep();
    return this.#going;
  }

  async #wake(): Promise<void> {
    await this.#going;
    const saved = this.#saved;
    if (saved === undefined) return;
    await this.#runtime.resume();
    this.#saved = undefined;
    saved.delete().catch(this.#tell);
    if (this.#uses === 0) this.#watch();
  }

  // No call has failed, so no call can tell it.
  readonly #tell = (error: unknown): void => {
    const { onError } = this.#options;
    if (onError !== undefined) onError(error);
    else process.emitWarning(error instanceof Error ? error : String(error));
  };
}
