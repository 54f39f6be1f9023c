// Which slots a pool has: how many in each state, and how many of each tenant.

import type { PoolableRuntime } from './poolable.js';
import { SLOT_STATES, Slot, type SlotState } from './slot.js';

/** See the module. */
export class Ledger<R extends PoolableRuntime> implements Iterable<Slot<R>> {
  readonly #slots = new Set<Slot<R>>();
  readonly #counts = Object.fromEntries(SLOT_STATES.map((state) => [state, 0])) as Record<SlotState, number>;
  readonly #owners = new Map<string, number>();

  get size(): number {
    return this.#slots.size;
  }

  /** How many slots are in that state. */
  count(state: SlotState): number {
    return this.#counts[state];
  }

  /** How many slots hold memory. */
  get mapped(): number {
    return this.#slots.size - this.#counts.paused - this.#counts.forgetting;
  }

  /** Whether a tenant has slots. */
  owns(tenant: string): boolean {
    return this.#owners.has(tenant);
  }

  /** A new one. */
  open(state: SlotState): Slot<R> {
    const slot = new Slot<R>(state);
    this.#slots.add(slot);
    this.#counts[state]++;
    return slot;
  }

  move(slot: Slot<R>, state: SlotState): void {
    this.#counts[slot.state]--;
    slot.state = state;
    this.#counts[state]++;
  }

  /** It is the tenant's from now on, if it was nobody's. */
  own(slot: Slot<R>, tenant: string): void {
    if (slot.owner !== undefined) return;
    slot.owner = tenant;
    this.#owners.set(tenant, (this.#owners.get(tenant) ?? 0) + 1);
  }

  /** It is gone; whether it was the last one of its tenant. */
  drop(slot: Slot<R>): boolean {
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
