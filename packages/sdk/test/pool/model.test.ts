// Tests the invariants of a pool with random sequences of events. The sequence determines when each
// step of a slot ends, in which order, and whether the step fails. After each event the counts of
// the pool must equal the counts of the model.

import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isColdframeError } from '../../src/errors/error.js';
import type { Lease } from '../../src/pool/lease.js';
import type { PoolRules, SlotPool } from '../../src/pool/slot-pool.js';
import { advanceTime, type FakeRuntime, type FakeSource, fakePool, replaceTimers, settle } from './fakes.js';

const TENANTS = ['a', 'b', 'c'];
const STEPS = ['make', 'restore', 'pause', 'resume', 'dispose', 'delete'] as const;

beforeEach(replaceTimers);
afterEach(() => {
  vi.useRealTimers();
});

const rules = fc.record({
  size: fc.integer({ min: 1, max: 5 }),
  min: fc.integer({ min: 0, max: 3 }),
  tenant: fc.constantFrom('default', 'a'),
  reuse: fc.integer({ min: 1, max: 3 }),
  recycle: fc.constantFrom('each-use', 'last-use'),
  maxWaiting: fc.integer({ min: 0, max: 6 }),
} satisfies Partial<Record<keyof PoolRules, unknown>>);

const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('acquire'), tenant: fc.constantFrom(...TENANTS) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('release', 'release', 'discard', 'break'), at: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort'), at: fc.nat() }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('go', 'go', 'go', 'fail'), at: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass'), ms: fc.constantFrom(1, 99, 1_000, 5_000, 30_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose') }) },
);
type Action = { do: string; tenant?: string; at?: number; ms?: number };

/** The model: pending calls, leases in use, and all earlier users of each runtime. */
class PoolModel {
  readonly held: { tenant: string; lease: Lease<FakeRuntime>; runtime: FakeRuntime }[] = [];
  readonly waiting: { tenant: string; controller: AbortController }[] = [];
  granted = 0;
  requested = 0;
  refused = 0;
  failed = 0;
  /** The description of a wrongly granted slot, if any. */
  problem: string | undefined;
  readonly #pool: SlotPool<FakeRuntime>;
  readonly #source: FakeSource;
  readonly #rules: Pick<PoolRules, 'size' | 'recycle' | 'maxWaiting'>;

  constructor(pool: SlotPool<FakeRuntime>, source: FakeSource, rules: Pick<PoolRules, 'size' | 'recycle' | 'maxWaiting'>) {
    this.#pool = pool;
    this.#source = source;
    this.#rules = rules;
  }

  act({ do: what, tenant = 'a', at = 0, ms = 0 }: Action): Promise<void> | void {
    const pick = <T>(list: T[]): T | undefined => list[at % Math.max(1, list.length)];
    if (what === 'acquire') return this.#acquire(tenant);
    if (what === 'pass') return advanceTime(ms);
    if (what === 'lose') return this.#source.lose(new Error('lost'), false);
    if (what === 'abort') return pick(this.waiting)?.controller.abort('abort');
    if (what === 'go' || what === 'fail') {
      const step = pick(this.#source.held);
      if (step !== undefined) this.#source.endStep(step, what === 'fail' ? new Error('step') : undefined);
      return;
    }
    const use = pick(this.held);
    if (use === undefined) return;
    this.held.splice(this.held.indexOf(use), 1);
    if (what === 'break') void use.lease.runtime.registerBindings();
    if (what === 'discard') use.lease.discard();
    else use.lease.release();
  }

  #acquire(tenant: string): void {
    this.requested++;
    const entry = { tenant, controller: new AbortController() };
    this.waiting.push(entry);
    const endWait = (): void => {
      this.waiting.splice(this.waiting.indexOf(entry), 1);
    };
    this.#pool.acquire({ tenant, signal: entry.controller.signal }).then(
      (lease) => {
        endWait();
        this.granted++;
        const runtime = this.#source.made[lease.runtime.number] as FakeRuntime;
        const { users, marks, state } = runtime;
        if (this.held.some((use) => use.runtime === runtime)) this.problem = 'the slot is in use';
        if (users.some((user) => user !== tenant)) this.problem = 'another tenant used the slot';
        if (marks.length > 0 && this.#rules.recycle === 'each-use') this.problem = 'the slot is not clean';
        if (marks.some((mark) => mark !== tenant)) this.problem = 'the slot has data of another tenant';
        if (state !== 'running') this.problem = `the slot is ${state}`;
        runtime.users.push(tenant);
        runtime.marks.push(tenant);
        this.held.push({ tenant, lease, runtime });
      },
      (error) => {
        endWait();
        if (isColdframeError(error, 'ERR_POOL_EXHAUSTED')) this.refused++;
        else this.failed++;
      },
    );
  }

  check(): void {
    expect(this.problem).toBeUndefined();
    const stats = this.#pool.stats();
    const { size, maxWaiting } = this.#rules;
    expect(stats.idle + stats.busy).toBeLessThanOrEqual(size);
    expect(stats.paused).toBeLessThanOrEqual(size);
    expect(stats.busy).toBe(this.held.length);
    expect(stats.waiting).toBe(this.waiting.length);
    expect(stats.waiting + stats.busy).toBeLessThanOrEqual(size + maxWaiting);
    expect(this.#source.mapped).toBeLessThanOrEqual(size);
    // Each call has been served, refused, has failed, or waits.
    const { refused, timeouts, aborted, failed, hits, misses } = stats;
    expect({ refused, failed: timeouts + aborted + failed }).toEqual({ refused: this.refused, failed: this.failed });
    expect(this.granted + this.refused + this.failed + stats.waiting).toBe(this.requested);
    expect(hits + misses).toBeGreaterThanOrEqual(this.requested - refused);
    expect(hits + misses).toBeLessThanOrEqual(this.requested);
    const tenants = Object.values(stats.tenants);
    for (const name of ['busy', 'waiting'] as const)
      expect(tenants.reduce((sum, tenant) => sum + tenant[name], 0)).toBe(stats[name]);
  }
}

test('grants only clean slots of the right tenant, loses no slot, and settles every call', async () => {
  await fc.assert(
    fc.asyncProperty(rules, fc.array(action, { minLength: 10, maxLength: 80 }), async (given, actions) => {
      const made = await fakePool({ ...given, idleTimeoutMs: 1_000, acquireTimeoutMs: 10_000 });
      const { pool, source } = made;
      source.hold(...STEPS);
      const model = new PoolModel(pool, source, given);
      for (const step of actions) {
        await model.act(step);
        await settle();
        model.check();
      }
      // After all steps have ended, every call settles and no slot is lost.
      source.release(...STEPS);
      for (const { lease } of model.held.splice(0)) lease.release();
      for (let i = 0; i < 100 && model.waiting.length > 0; i++) {
        await settle();
        for (const { lease } of model.held.splice(0)) lease.release();
        if (i > 50) await advanceTime(1_000);
      }
      expect(model.waiting).toEqual([]);
      model.check();
      // After one millisecond, dispose() revokes slots that are still in use.
      const disposed = pool.dispose(1);
      await advanceTime(1);
      await disposed;
      expect([source.live.size, source.closed]).toEqual([0, true]);
      expect(pool.stats()).toMatchObject({ idle: 0, busy: 0, preparing: 0, paused: 0, waiting: 0, tenants: {} });
      expect(vi.getTimerCount()).toBe(0);
    }),
    { numRuns: 300 },
  );
});
