// The queue of calls that wait for a slot. Each free slot serves the next tenant in turn, and
// within a tenant the oldest call. So a tenant with a thousand waiting calls delays another tenant
// by one call.
//
// When the queue is full, the tenant with most waiting calls loses its newest call to a tenant with
// fewer calls.

/** A waiting call. */
export interface WaitingCall {
  readonly tenant: string;
}

/** The queue of one pool. */
export class FairQueue<W extends WaitingCall> {
  /** The calls of each tenant, in the order of the tenants' turns. No set is empty. */
  readonly #lines = new Map<string, Set<W>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  count(tenant: string): number {
    return this.#lines.get(tenant)?.size ?? 0;
  }

  has(call: W): boolean {
    return this.#lines.get(call.tenant)?.has(call) === true;
  }

  push(call: W): void {
    const line = this.#lines.get(call.tenant);
    if (line === undefined) this.#lines.set(call.tenant, new Set([call]));
    else line.add(call);
    this.#size++;
  }

  /**
   * Removes a call that no longer waits. Returns whether the call was in the queue. The tenant
   * keeps its turn.
   */
  remove(call: W): boolean {
    const line = this.#lines.get(call.tenant);
    if (line?.delete(call) !== true) return false;
    this.#size--;
    if (line.size === 0) this.#lines.delete(call.tenant);
    return true;
  }

  /** Removes served calls and moves their tenants to the end of the order. */
  served(calls: readonly W[]): void {
    for (const call of calls) {
      if (!this.remove(call)) continue;
      const line = this.#lines.get(call.tenant);
      if (line === undefined) continue;
      this.#lines.delete(call.tenant);
      this.#lines.set(call.tenant, line);
    }
  }

  /**
   * Yields all calls in the order of service: the first call of each tenant in turn, then the
   * second calls, then the third calls. The queue must not change during the iteration.
   */
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

  /**
   * Returns the call to remove when the queue is full and a call of `tenant` arrives. Returns
   * `undefined` if no other tenant would have more waiting calls than `tenant`.
   */
  yieldingTo(tenant: string): W | undefined {
    let longest: Set<W> | undefined;
    for (const line of this.#lines.values()) if (line.size > (longest?.size ?? 0)) longest = line;
    if (longest === undefined || longest.size <= this.count(tenant) + 1) return undefined;
    return [...longest].at(-1);
  }

  tenants(): IterableIterator<string> {
    return this.#lines.keys();
  }
}
