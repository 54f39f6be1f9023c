// The resident runners of a runtime: those that were started from here, and those that came with a snapshot.

import type { RunnerCreate } from '../channel/messages.js';
import type { RestoredProgram } from '../channel/snapshots.js';
import type { BootTimingListener } from '../options/types.js';
import { reportGuestStart } from '../runtime/boot-timing.js';
import type { Numbers } from '../runtime/numbers.js';
import type { SidecarConnection } from '../sidecar/connection.js';
import { ResidentRunner } from './resident-runner.js';

/** Handles by their numbers. One that has been disposed, or whose process has ended, is forgotten when somebody asks for all. */
export class Runners {
  readonly #connection: SidecarConnection;
  readonly #numbers: Numbers;
  readonly #onBootTiming: BootTimingListener | undefined;
  readonly #all = new Map<number, ResidentRunner>();

  constructor(connection: SidecarConnection, numbers: Numbers, onBootTiming: BootTimingListener | undefined) {
    this.#connection = connection;
    this.#numbers = numbers;
    this.#onBootTiming = onBootTiming;
  }

  /** Starts the process of one. */
  async create(options: RunnerCreate): Promise<ResidentRunner> {
    const { runner: number, pid, timings } = await this.#connection.createRunner(options);
    if (this.#onBootTiming !== undefined) reportGuestStart(this.#onBootTiming, timings);
    // Forgets those that are gone whenever there are twice as many: constant work for each on average.
    if (this.#all.size >= 8 && (this.#all.size & (this.#all.size - 1)) === 0) this.#forget((one) => !one.isDisposed);
    this.#numbers.take(pid);
    const runner = new ResidentRunner(this.#connection, number, pid, this.#onBootTiming);
    this.#all.set(number, runner);
    return runner;
  }

  /** These came with a snapshot, or have gone on. */
  adopt(programs: readonly RestoredProgram[]): void {
    for (const { runner, pid } of programs) {
      if (runner === undefined || this.#all.has(runner)) continue;
      this.#all.set(runner, new ResidentRunner(this.#connection, runner, pid, this.#onBootTiming));
    }
  }

  /** Those whose processes are among these, in the order of their numbers. */
  alive(pids: readonly number[]): ResidentRunner[] {
    const living = new Set(pids);
    this.#forget((one) => !one.isDisposed && living.has(one.pid));
    return [...this.#all].sort(([one], [other]) => one - other).map(([, runner]) => runner);
  }

  #forget(stays: (runner: ResidentRunner) => boolean): void {
    for (const [number, runner] of this.#all) if (!stays(runner)) this.#all.delete(number);
  }
}
