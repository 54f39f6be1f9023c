// Provides fake runtimes, and a source of runtimes whose steps can wait until the test releases the
// steps. Tests do not sleep and read no clock. `settle()` runs all work that does not wait for
// time.

import { vi } from 'vitest';
import { fromWire } from '../../src/errors/make.js';
import { RUNTIME_CALLS } from '../../src/pool/call-rules.js';
import { type PoolRules, SlotPool } from '../../src/pool/slot-pool.js';
import type { Loss, PauseSnapshot, PoolableRuntime, SlotSource } from '../../src/pool/slot-source.js';

export type Step = 'make' | 'restore' | 'pause' | 'resume' | 'dispose' | 'delete';

/** A fake runtime. `marks` records the changes of its users until a rollback. */
export class FakeRuntime implements PoolableRuntime {
  state: PoolableRuntime['state'] = 'running';
  /** The changes that users have made since the last rollback. */
  marks: string[] = [];
  /** All users that the runtime has had. */
  readonly users: string[] = [];
  readonly number: number;
  readonly #source: FakeSource;

  constructor(source: FakeSource, number: number) {
    this.#source = source;
    this.number = number;
  }

  async exec(mark: string): Promise<string> {
    if (this.state !== 'running') throw new Error(`exec() on a runtime that is ${this.state}`);
    this.marks.push(mark);
    return this.marks.join(' ');
  }

  /** Returns the marks without a promise, unlike `exec()`. */
  look(): readonly string[] {
    return this.marks;
  }

  async resume(): Promise<void> {
    await this.#source.step('resume', this);
    if (this.state === 'paused') this.state = 'running';
  }

  async registerBindings(): Promise<void> {}

  /** Returns `result`, such as a stream or a promise that the test controls. */
  open<T>(result: T): T {
    return result;
  }

  /** Runs a program until `end` settles. With `cwd`, checks the directory first. */
  async wait(end: Promise<void>, _options: { cwd?: string } = {}): Promise<void> {
    await end;
  }

  async spawn(): Promise<FakeProgram> {
    return new FakeProgram();
  }

  async clone(n: number, { settle = false } = {}): Promise<unknown[]> {
    const copies = Array.from({ length: n }, () => new FakeRuntime(this.#source, -1));
    return settle ? [...copies.map((value) => ({ status: 'fulfilled', value })), { status: 'rejected', reason: 'no' }] : copies;
  }

  async dispose(): Promise<void> {
    if (this.state === 'disposed') return;
    this.state = 'disposed';
    try {
      await this.#source.step('dispose', this);
    } finally {
      this.#source.live.delete(this);
    }
  }
}

/** A program of a fake runtime. */
export class FakeProgram {
  killed = 0;

  async kill(): Promise<void> {
    this.killed++;
  }

  toJSON(): object {
    return { killed: this.killed };
  }

  async attach(): Promise<this> {
    return this;
  }

  async dispose(): Promise<void> {
    this.killed++;
  }
}

/** The source of fake runtimes. */
export class FakeSource implements SlotSource<FakeRuntime> {
  readonly calls = {
    lasting: new Set(['registerBindings', 'pause', 'dispose']),
    startsProgram: new Set(['wait']),
    checksFirst: RUNTIME_CALLS.checksFirst,
    returnsHandles: new Set(['spawn']),
    immediate: new Set(['look', 'open']),
  };
  readonly handleCalls = {
    lasting: new Set(['attach']),
    startsProgram: new Set(['kill']),
    returnsHandles: new Set(['attach']),
    immediate: new Set<string>(),
  };
  /** All runtimes that the source has made. */
  readonly made: FakeRuntime[] = [];
  /** Runtimes that are not disposed. */
  readonly live = new Set<FakeRuntime>();
  /** The numbers of the runtimes that have a pause snapshot. */
  readonly onDisk = new Set<number>();
  /** The number of runtimes that fit into the sidecar. */
  capacity = Number.POSITIVE_INFINITY;
  abandoned = false;
  closed = false;
  /** Steps that wait for `release()`. */
  readonly held: { step: Step; runtime: FakeRuntime | undefined; go(): void; fail(error: Error): void }[] = [];
  readonly #holding = new Set<Step>();
  readonly #failing = new Map<Step, Error>();
  #loss: Loss | undefined;

  /** The number of runtimes that use memory and are not ending. */
  get mapped(): number {
    return [...this.live].filter(({ state }) => state === 'running').length;
  }

  /** Makes all later steps of the kinds `steps` wait until `release()`. */
  hold(...steps: Step[]): void {
    for (const step of steps) this.#holding.add(step);
  }

  /** Ends the wait of present and later steps of the kinds `steps`. */
  release(...steps: Step[]): void {
    for (const step of steps) this.#holding.delete(step);
    for (const held of this.held.filter(({ step }) => steps.includes(step))) this.endStep(held);
  }

  /** Ends one step, with or without an error. */
  endStep(step: FakeSource['held'][number], error?: Error): void {
    this.held.splice(this.held.indexOf(step), 1);
    if (error === undefined) step.go();
    else step.fail(error);
  }

  /** Makes a step fail with `error`, or succeed if `error` is undefined. */
  fail(step: Step, error: Error | undefined): void {
    if (error === undefined) this.#failing.delete(step);
    else this.#failing.set(step, error);
  }

  /** Makes the next call of `lost()` report the loss of all runtimes. */
  lose(error: Error, final: boolean): void {
    this.#loss = { error, final };
  }

  lost(): Promise<Loss> | undefined {
    const loss = this.#loss;
    this.#loss = undefined;
    return loss && Promise.resolve(loss);
  }

  assertOwn(tenant: string, method: PropertyKey, args: readonly unknown[]): void {
    if (method === 'exec' && args[0] === 'public' && tenant !== 'default') throw new Error('not yours');
  }

  step(step: Step, runtime?: FakeRuntime): Promise<void> {
    const error = this.#failing.get(step);
    if (error !== undefined) return Promise.reject(error);
    if (!this.#holding.has(step)) return Promise.resolve();
    return new Promise((go, fail) => this.held.push({ step, runtime, go, fail }));
  }

  async make(): Promise<FakeRuntime> {
    await this.step('make');
    if (this.live.size >= this.capacity)
      throw fromWire('ERR_RESOURCE_EXHAUSTED', 'no capacity', { resource: 'runtimes', limit: this.capacity });
    const runtime = new FakeRuntime(this, this.made.length);
    this.made.push(runtime);
    this.live.add(runtime);
    return runtime;
  }

  async restore(runtime: FakeRuntime): Promise<void> {
    await this.step('restore', runtime);
    runtime.marks = [];
  }

  async pause(runtime: FakeRuntime): Promise<PauseSnapshot> {
    await this.step('pause', runtime);
    if (runtime.state === 'running') runtime.state = 'paused';
    this.onDisk.add(runtime.number);
    const remove = async (): Promise<void> => {
      await this.step('delete', runtime);
      this.onDisk.delete(runtime.number);
    };
    return { delete: remove };
  }

  abandon(): void {
    this.abandoned = true;
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

const RULES: PoolRules = {
  size: 4,
  min: 0,
  tenant: 'default',
  reuse: 100,
  recycle: 'each-use',
  idleTimeoutMs: 60_000,
  acquireTimeoutMs: 10_000,
  maxWaiting: 100,
};

/** Makes a pool of fake runtimes and waits until its first slots are made. */
export async function fakePool(rules: Partial<PoolRules> = {}): Promise<{ pool: SlotPool<FakeRuntime>; source: FakeSource }> {
  const source = new FakeSource();
  const pool = new SlotPool(source, { ...RULES, ...rules });
  await settle();
  return { pool, source };
}

/** Replaces `setTimeout` with fake timers. `setImmediate` stays real. */
export function replaceTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
}

/** Runs all work that does not wait for time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Advances the fake timers by `ms` and runs all work that follows. */
export async function advanceTime(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await settle();
}
