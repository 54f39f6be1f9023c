// The resident runners of a runtime: those that were started from here, and those that came with a snapshot.

import type { RestoredProgram, RunnerCreate } from '../channel/messages.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import type { BootTimingListener } from '../options/types.js';
import { reportGuestStart } from '../runtime/boot-timing.js';
import type { Numbers } from '../runtime/numbers.js';
import { ResidentRunner } from './resident-runner.js';

/** Handles by their numbers. One that is over is forgotten: when another state of the runtime takes the place of this one, when somebody asks for all, and now and then. */
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
    const { runner, pid, timings } = await this.#connection.createRunner(options);
    if (this.#onBootTiming !== undefined) reportGuestStart(this.#onBootTiming, timings);
    // Forgets those that are gone whenever there are twice as many: constant work for each on average.
    if (this.#all.size >= 8 && (this.#all.size & (this.#all.size - 1)) === 0) this.#forget((one) => !one.isOver);
    this.#numbers.take(pid);
    return this.#handle(runner, pid);
  }

  /** These came with a snapshot. */
  adopt(programs: readonly RestoredProgram[]): void {
    for (const { runner, pid } of programs) if (runner !== undefined) this.#handle(runner, pid);
  }

  /**
   * Another state takes the place of this one, a rollback's or that of a runtime which wakes up, and brings these programs: all others are gone, but for runners
   * that are created meanwhile.
   */
  async renew<P extends readonly RestoredProgram[]>(coming: Promise<P>): Promise<P> {
    const before = [...this.#all.keys()];
    const programs = await coming;
    const living = new Set(programs.map(({ runner }) => runner));
    for (const number of before) if (!living.has(number)) this.#all.delete(number);
    this.adopt(programs);
    return programs;
  }

  /** Those whose processes are among these, in the order of their numbers. */
  alive(pids: readonly number[]): ResidentRunner[] {
    const living = new Set(pids);
    this.#forget((one) => !one.isOver && living.has(one.pid));
    return [...this.#all].sort(([one], [other]) => one - other).map(([, runner]) => runner);
  }

  // One handle for a runner, unless it was over: what lives again has a new one.
  #handle(number: number, pid: number): ResidentRunner {
    let runner = this.#all.get(number);
    if (runner === undefined || runner.isOver) {
      runner = new ResidentRunner(this.#connection, number, pid, this.#onBootTiming);
      this.#all.set(number, runner);
    }
    return runner;
  }

  #forget(stays: (runner: ResidentRunner) => boolean): void {
    for (const [number, runner] of this.#all) if (!stays(runner)) this.#all.delete(number);
  }
}
