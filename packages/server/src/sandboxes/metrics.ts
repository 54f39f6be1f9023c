// The use of processor time, memory and files over time. Samples are taken in turns, at a bounded
// pace, so that the cost does not grow with the number of sandboxes.

import type { NodeRuntime } from 'coldframe';

/** The use at one time. */
export interface Sample {
  /** Milliseconds since 1970. */
  at: number;
  cpuUsedPct: number;
  memoryBytes: number;
  diskBytes: number;
}

/** Milliseconds from one sample of a sandbox to the next, with few sandboxes. */
const EVERY_MS = 5_000;
/** Milliseconds from the sample of one sandbox to the sample of another, at least. */
const PACE_MS = 10;
/** The newest samples of a sandbox that are kept: 10 minutes. */
const KEPT = 120;

/** The samples of one sandbox. */
export class Samples {
  readonly #runtime: NodeRuntime;
  readonly #samples: Sample[] = [];
  #cpuMs: number | undefined;
  #takenAt = performance.now();

  constructor(runtime: NodeRuntime) {
    this.#runtime = runtime;
  }

  /** Takes a sample. Does nothing while the runtime is paused. */
  async take(): Promise<void> {
    if (this.#runtime.state !== 'running') return;
    const { cpuMs, memoryBytes, filesystemBytes: diskBytes } = await this.#runtime.getResourceSnapshot();
    const at = Date.now();
    const now = performance.now();
    const sinceMs = now - this.#takenAt;
    this.#takenAt = now;
    const used = Math.max(0, cpuMs - (this.#cpuMs ?? 0));
    this.#cpuMs = cpuMs;
    const cpuUsedPct = Math.round((used / Math.max(1, sinceMs)) * 10_000) / 100;
    this.#samples.push({ at, cpuUsedPct, memoryBytes, diskBytes });
    if (this.#samples.length > KEPT) this.#samples.shift();
  }

  /** Returns the samples from `start` to `end`. Takes a sample if there is none yet. */
  async between(start: number, end: number): Promise<Sample[]> {
    const now = Date.now();
    if (this.#samples.length === 0 && start <= now && end >= now - 1_000) await this.take().catch(() => {});
    return this.#samples.filter(({ at }) => at >= start && at <= end);
  }

  /** Returns the newest sample. */
  async newest(): Promise<Sample | undefined> {
    if (this.#samples.length === 0) await this.take().catch(() => {});
    return this.#samples.at(-1);
  }
}

/** Takes samples of all sandboxes in turns until `stop` aborts. */
export async function sampleInTurns(all: () => Iterable<{ samples: Samples }>, stop: AbortSignal): Promise<void> {
  const rest = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        stop.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms).unref();
      stop.addEventListener('abort', done);
    });
  while (!stop.aborted) {
    const round = [...all()];
    for (const { samples } of round) {
      // A sandbox that has just ended has no sample.
      await samples.take().catch(() => {});
      await rest(Math.max(PACE_MS, EVERY_MS / round.length));
      if (stop.aborted) return;
    }
    if (round.length === 0) await rest(EVERY_MS);
  }
}
