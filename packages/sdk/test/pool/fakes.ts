// Runtimes that are made up, and a source of them in which every step waits until the test lets it go on. No test sleeps, and none looks at a clock:
// `settle()` runs everything that can run.

import { vi } from 'vitest';
import { fromWire } from '../../src/errors/make.js';
import type { Loss, PausedState, PoolableRuntime, SlotSource } from '../../src/pool/poolable.js';
import { type PoolRules, SlotPool } from '../../src/pool/slot-pool.js';

export type Step = 'make' | 'restore' | 'pause' | 'resume' | 'dispose' | 'delete';

/** One runtime. What has been written to it stays until it is rolled back. */
export class FakeRuntime implements PoolableRuntime {
  state: PoolableRuntime['state'] = 'running';
  /** What its users have left. */
  marks: string[] = [];
  /** Everybody who has had it. */
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

  /** A method that gives no promise. */
  look(): readonly string[] {
    return this.marks;
  }

  async resume(): Promise<void> {
    await this.#source.step('resume', this);
    if (this.state === 'paused') this.state = 'running';
  }

  async registerBindings(): Promise<void> {}

  /** A call that gives whatever the test wants. */
  open<T>(given: T): T {
    return given;
  }

  /** The same for a program that runs. */
  async wait(given: Promise<void>): Promise<void> {
    await given;
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

/** A program of one. */
export class FakeProgram {
  killed = 0;

  async kill(): Promise<void> {
    this.killed++;
  }

  async attach(): Promise<this> {
    return this;
  }

  async dispose(): Promise<void> {
    this.killed++;
  }
}

/** Who makes them. */
export class FakeSource implements SlotSource<FakeRuntime> {
  readonly calls = {
    lasting: new Set(['registerBindings', 'pause', 'dispose']),
    begun: new Set(['wait']),
    handles: new Set(['spawn']),
  };
  readonly handleCalls = { lasting: new Set(['attach']), begun: new Set(['kill']), handles: new Set(['attach']) };
  /** All that were made. */
  readonly made: FakeRuntime[] = [];
  /** Those that have not been disposed of. */
  readonly live = new Set<FakeRuntime>();
  /** Numbers of those whose pause has left something. */
  readonly onDisk = new Set<number>();
  /** How many the sidecar has room for. */
  room = Number.POSITIVE_INFINITY;
  abandoned = false;
  closed = false;
  /** Steps that wait for `release()`. */
  readonly held: { step: Step; runtime: FakeRuntime | undefined; go(): void; fail(error: Error): void }[] = [];
  readonly #holding = new Set<Step>();
  readonly #failing = new Map<Step, Error>();
  #loss: Loss | undefined;

  /** How many are in memory, and nobody has begun to end them. */
  get mapped(): number {
    return [...this.live].filter(({ state }) => state === 'running').length;
  }

  /** From now on those steps wait. */
  hold(...steps: Step[]): void {
    for (const step of steps) this.#holding.add(step);
  }

  /** Lets all that wait go on, and those to come. */
  release(...steps: Step[]): void {
    for (const step of steps) this.#holding.delete(step);
    for (const one of this.held.filter(({ step }) => steps.includes(step))) this.letGo(one);
  }

  /** Lets one go on, or fail. */
  letGo(one: FakeSource['held'][number], error?: Error): void {
    this.held.splice(this.held.indexOf(one), 1);
    if (error === undefined) one.go();
    else one.fail(error);
  }

  /** From now on that step fails, or no longer. */
  fail(step: Step, error: Error | undefined): void {
    if (error === undefined) this.#failing.delete(step);
    else this.#failing.set(step, error);
  }

  /** All that were made so far are gone. */
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
    if (this.live.size >= this.room)
      throw fromWire('ERR_RESOURCE_EXHAUSTED', 'no room', { resource: 'runtimes', limit: this.room });
    const runtime = new FakeRuntime(this, this.made.length);
    this.made.push(runtime);
    this.live.add(runtime);
    return runtime;
  }

  async restore(runtime: FakeRuntime): Promise<void> {
    await this.step('restore', runtime);
    runtime.marks = [];
  }

  async pause(runtime: FakeRuntime): Promise<PausedState> {
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

/** A pool of fakes, when all that begins with it has come to rest. */
export async function fakePool(rules: Partial<PoolRules> = {}): Promise<{ pool: SlotPool<FakeRuntime>; source: FakeSource }> {
  const source = new FakeSource();
  const pool = new SlotPool(source, { ...RULES, ...rules });
  await settle();
  return { pool, source };
}

/** Has `setTimeout` in the test's hand; `setImmediate` stays, because it comes by itself. */
export function holdTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
}

/** Runs everything that can run without time going on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Lets time go on, and everything run that it brings. */
export async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await settle();
}
