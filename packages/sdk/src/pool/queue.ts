// Who waits for a slot. Fair between tenants: each free slot goes to the next tenant in turn, and inside a tenant to who came first. So one that has
// a thousand calls waiting delays another by one call, not by a thousand. When the queue is full, the newest of the tenant that has most in it
// gives way to a tenant that has fewer.

/** Somebody who waits. */
export interface Waiting {
  readonly tenant: string;
}

/** See the module. */
export class FairQueue<W extends Waiting> {
  // In the order of their turns; no line is empty.
  readonly #lines = new Map<string, Set<W>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  count(tenant: string): number {
    return this.#lines.get(tenant)?.size ?? 0;
  }

  has(waiter: W): boolean {
    return this.#lines.get(waiter.tenant)?.has(waiter) === true;
  }

  push(waiter: W): void {
    const line = this.#lines.get(waiter.tenant);
    if (line === undefined) this.#lines.set(waiter.tenant, new Set([waiter]));
    else line.add(waiter);
    this.#size++;
  }

  /** Takes out somebody who no longer waits; whether it did. The tenant keeps its turn. */
  remove(waiter: W): boolean {
    const line = this.#lines.get(waiter.tenant);
    if (line?.delete(waiter) !== true) return false;
    this.#size--;
    if (line.size === 0) this.#lines.delete(waiter.tenant);
    return true;
  }

  /** These have had their turn: they go out, and their tenants to the end. */
  served(waiters: readonly W[]): void {
    for (const waiter of waiters) {
      if (!this.remove(waiter)) continue;
      const line = this.#lines.get(waiter.tenant);
      if (line === undefined) continue;
      this.#lines.delete(waiter.tenant);
      this.#lines.set(waiter.tenant, line);
    }
  }

  /** All in the order in which they would be served: the first of each tenant in turn, then the second of each, and so on. Nothing may change meanwhile. */
  *inTurn(): Generator<W, void> {
    let lines: Iterator<W>[] = [];
    for (const line of this.#lines.values()) {
      const rest = line.values();
      yield rest.next().value as W;
      if (line.size > 1) lines.push(rest);
    }
    while (lines.length > 0) {
      const more: Iterator<W>[] = [];
      for (const line of lines) {
        const { value, done } = line.next();
        if (done) continue;
        yield value;
        more.push(line);
      }
      lines = more;
    }
  }

  /** Who gives way when the queue is full and `tenant` comes; nobody when no other tenant would still have as many in it as this one. */
  toYield(tenant: string): W | undefined {
    let longest: Set<W> | undefined;
    for (const line of this.#lines.values()) if (line.size > (longest?.size ?? 0)) longest = line;
    if (longest === undefined || longest.size <= this.count(tenant) + 1) return undefined;
    return [...longest].at(-1);
  }

  tenants(): IterableIterator<string> {
    return this.#lines.keys();
  }
}
