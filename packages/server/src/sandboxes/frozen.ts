// Moves frozen sandboxes to disk when their programs can rest.
//
// A sandbox is frozen because a program was in the middle of a long turn when the sandbox was
// paused. A frozen program does not run, so its turn does not end by itself. This file therefore
// lets the programs of a frozen sandbox run for short slices in which only the turns that have
// begun continue. When all these turns have ended, the sandbox goes to disk.
//
// One sandbox has a slice at a time, so frozen sandboxes use less than a tenth of one processor
// together. A program that does not rest within all slices stays frozen.

/** The length of one slice in milliseconds. A resume waits for the end of a slice. */
const SLICE_MS = 250;
/** The time between the slices of one sandbox, in milliseconds. */
const PAUSE_MS = 3_000;
/** The slices of one freeze: a minute of processor time. */
const SLICES = 240;

/** Runs a frozen sandbox for one slice of at most `ms`. Returns whether this slice is the last. */
export type Slice = (id: string, ms: number) => Promise<boolean>;

/** The frozen sandboxes that have slices left. */
export class FrozenSandboxes {
  readonly #slice: Slice;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** The slice that runs, and the slices that wait for its end. */
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(slice: Slice) {
    this.#slice = slice;
  }

  /** Adds a sandbox that was frozen now. */
  add(id: string): void {
    this.#plan(id, SLICES);
  }

  /** Ends all slices. Resolves after the slice that runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await this.#running;
  }

  #plan(id: string, left: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    if (left === 0 || this.#isClosed) return;
    const run = (): void => {
      this.#running = this.#running.then(() => this.#run(id, left));
    };
    this.#timers.set(id, setTimeout(run, PAUSE_MS).unref());
  }

  async #run(id: string, left: number): Promise<void> {
    if (this.#isClosed) return;
    const timer = this.#timers.get(id);
    // A full disk can have space later.
    const isOver = await this.#slice(id, SLICE_MS).catch(() => false);
    // The sandbox was frozen again during the slice.
    if (this.#timers.get(id) !== timer) return;
    this.#plan(id, isOver ? 0 : left - 1);
  }
}
