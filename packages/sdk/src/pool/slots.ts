// The slots of a pool: one runtime each, with its state, and tables that count and find slots.
// Next: `slot-lifecycle.ts`, the transitions between the states.

import type { PauseSnapshot, PoolableRuntime } from './slot-source.js';

/**
 * The states of a slot. Slots in all states except `paused` and `forgetting` use memory.
 *
 * making ─► idle ◄─► busy            idle ─► pausing ─► paused ─► resuming ─► idle
 *            ▲         └► cleaning ─► idle                 └► forgetting (deletes the snapshot)
 *   from every state except paused: ─► ending
 */
export const SLOT_STATES = [
  'making',
  'idle',
  'busy',
  'cleaning',
  'pausing',
  'paused',
  'resuming',
  'ending',
  'forgetting',
] as const;
export type SlotState = (typeof SLOT_STATES)[number];

/** A slot. */
export class Slot<R extends PoolableRuntime> {
  state: SlotState;
  /** The runtime. Missing while the runtime is being made. */
  runtime: R | undefined;
  /** The tenant that used the slot first. No other tenant may use the slot. */
  owner: string | undefined;
  /**
   * The number of uses since the slot was made, or, with `recycle: 'last-use'`, since its last
   * rollback.
   */
  uses = 0;
  /** Whether the slot was used since its last rollback. */
  dirty = false;
  /** Whether the slot's sidecar has ended. */
  lost = false;
  /** The snapshot of the slot's last pause. */
  snapshot: PauseSnapshot | undefined;
  /** The timer that ends the slot's idle or paused time. */
  timer: NodeJS.Timeout | undefined;

  constructor(state: SlotState) {
    this.state = state;
  }
}

/** All slots of a pool, counted by state and by owner. */
export class SlotTable<R extends PoolableRuntime> implements Iterable<Slot<R>> {
  readonly #slots = new Set<Slot<R>>();
  readonly #counts = Object.fromEntries(SLOT_STATES.map((state) => [state, 0])) as Record<SlotState, number>;
  readonly #owners = new Map<string, number>();

  get size(): number {
    return this.#slots.size;
  }

  /** Returns the number of slots in a state. */
  count(state: SlotState): number {
    return this.#counts[state];
  }

  /** Returns the number of slots that use memory. */
  get mapped(): number {
    return this.#slots.size - this.#counts.paused - this.#counts.forgetting;
  }

  /** Returns whether a tenant has slots. */
  hasOwner(tenant: string): boolean {
    return this.#owners.has(tenant);
  }

  /** Adds a slot. */
  add(state: SlotState): Slot<R> {
    const slot = new Slot<R>(state);
    this.#slots.add(slot);
    this.#counts[state]++;
    return slot;
  }

  /** Changes the state of a slot. */
  move(slot: Slot<R>, state: SlotState): void {
    this.#counts[slot.state]--;
    slot.state = state;
    this.#counts[state]++;
  }

  /** Makes a tenant the owner of a slot without an owner. */
  own(slot: Slot<R>, tenant: string): void {
    if (slot.owner !== undefined) return;
    slot.owner = tenant;
    this.#owners.set(tenant, (this.#owners.get(tenant) ?? 0) + 1);
  }

  /** Removes a slot. Returns whether the slot was the last slot of its owner. */
  remove(slot: Slot<R>): boolean {
    this.#slots.delete(slot);
    this.#counts[slot.state]--;
    if (slot.owner === undefined) return false;
    const left = (this.#owners.get(slot.owner) ?? 0) - 1;
    if (left > 0) this.#owners.set(slot.owner, left);
    else this.#owners.delete(slot.owner);
    return left <= 0;
  }

  [Symbol.iterator](): IterableIterator<Slot<R>> {
    return this.#slots.values();
  }
}

/** Unused slots by owner. */
export class UnusedSlots<R extends PoolableRuntime> {
  /** The slots in the order of their arrival. The first slot has been unused for longest. */
  readonly #all = new Set<Slot<R>>();
  readonly #byOwner = new Map<string | undefined, Slot<R>[]>();

  get size(): number {
    return this.#all.size;
  }

  /** Returns the number of slots of an owner. */
  count(owner: string | undefined): number {
    return this.#byOwner.get(owner)?.length ?? 0;
  }

  add(slot: Slot<R>): void {
    this.#all.add(slot);
    const own = this.#byOwner.get(slot.owner);
    if (own === undefined) this.#byOwner.set(slot.owner, [slot]);
    else own.push(slot);
  }

  /** Takes a slot that a tenant may use: the tenant's newest slot, or a slot without an owner. */
  take(tenant: string): Slot<R> | undefined {
    const slot = this.#byOwner.get(tenant)?.at(-1) ?? this.#byOwner.get(undefined)?.at(-1);
    if (slot !== undefined) this.remove(slot);
    return slot;
  }

  /** Returns the slot that has been unused for longest. */
  get oldest(): Slot<R> | undefined {
    return this.#all.values().next().value;
  }

  remove(slot: Slot<R>): void {
    this.#all.delete(slot);
    const own = this.#byOwner.get(slot.owner);
    if (own === undefined) return;
    own.splice(own.lastIndexOf(slot), 1);
    if (own.length === 0) this.#byOwner.delete(slot.owner);
  }

  [Symbol.iterator](): IterableIterator<Slot<R>> {
    return this.#all.values();
  }
}
