// One place of a pool, and shelves of them. Next: `keeper.ts`.

import type { PausedState, PoolableRuntime } from './poolable.js';

/**
 * What a slot does. All but `paused` and `forgetting` hold memory.
 *
 * making ─► idle ◄─► busy            idle ─► pausing ─► paused ─► resuming ─► idle
 *            ▲         └► cleaning ─► idle                 └► forgetting (its state on disk is being deleted)
 *   from everywhere: ─► ending
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

/** One runtime of a pool and what is known of it. */
export class Slot<R extends PoolableRuntime> {
  state: SlotState;
  /** Missing while it is made. */
  runtime: R | undefined;
  /** The tenant that has used it, for ever; none while nobody has. */
  owner: string | undefined;
  /** How often it has been used since it was made, or since it was rolled back when that ends a series of uses. */
  uses = 0;
  /** Whether it has been used since its last rollback. */
  dirty = false;
  /** Whether its sidecar is gone. */
  lost = false;
  /** What its pause has left on disk. */
  saved: PausedState | undefined;
  /** Until it has been idle, or paused, for too long. */
  timer: NodeJS.Timeout | undefined;

  constructor(state: SlotState) {
    this.state = state;
  }
}

/** Slots that wait for somebody, by owner. */
export class Shelf<R extends PoolableRuntime> {
  // In the order in which they came: the first has waited longest.
  readonly #all = new Set<Slot<R>>();
  readonly #byOwner = new Map<string | undefined, Slot<R>[]>();

  get size(): number {
    return this.#all.size;
  }

  /** How many belong to `owner`. */
  count(owner: string | undefined): number {
    return this.#byOwner.get(owner)?.length ?? 0;
  }

  add(slot: Slot<R>): void {
    this.#all.add(slot);
    const own = this.#byOwner.get(slot.owner);
    if (own === undefined) this.#byOwner.set(slot.owner, [slot]);
    else own.push(slot);
  }

  /** Takes a slot that `tenant` may have: its own, the last that came, or one that nobody has used. */
  take(tenant: string): Slot<R> | undefined {
    const slot = this.#byOwner.get(tenant)?.at(-1) ?? this.#byOwner.get(undefined)?.at(-1);
    if (slot !== undefined) this.remove(slot);
    return slot;
  }

  /** The one that has waited longest. */
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
