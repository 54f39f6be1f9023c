// The runtime of a slot, as its user of the moment sees it: the runtime itself, until it is given back. Who keeps the handle and calls it later would
// be in the middle of somebody else's work, so from then on it refuses, and so do the programs and runners that it has handed out. It also notices what a rollback would not
// take back: calls whose effect stays, and those that are still under way. And it refuses those that would leave something where other tenants look.

import { asyncDispose } from '../async-dispose.js';
import { poolReleased } from '../errors/make.js';
import type { CallRules, PoolableRuntime, SlotSource } from './poolable.js';
import { UnderWay } from './under-way.js';

/** A runtime on loan. */
export interface Guard<R> {
  readonly runtime: R;
  /** Whether a rollback takes back all that was done to it, and nothing more can come from who had it. */
  readonly fit: boolean;
  /** From now on it refuses. */
  close(): void;
}

type Method = (...args: unknown[]) => unknown;

/** Lends `runtime` to `tenant`. */
export function guard<R extends PoolableRuntime>(
  runtime: R,
  tenant: string,
  source: Pick<SlotSource<R>, 'calls' | 'handleCalls' | 'assertOwn'>,
): Guard<R> {
  const loan = new Loan(source.handleCalls);
  // Copies are the caller's for good, and still may not leave anything where other tenants look.
  const confined = (copies: unknown): unknown => {
    if (Array.isArray(copies)) return copies.map(confined);
    if (copies instanceof runtime.constructor) return guard(copies as R, tenant, source).runtime;
    const { status, value } = copies as PromiseSettledResult<R> & { value: R };
    return status === 'fulfilled' ? { status, value: confined(value) } : copies;
  };
  const handler: ProxyHandler<R> = {
    get(target, name) {
      // Of the runtime itself: its private fields are not the proxy's.
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function' || name === 'constructor') {
        if (loan.closed && name !== 'then' && name !== 'constructor') throw poolReleased();
        source.assertOwn(tenant, name, []);
        return value;
      }
      return (...args: unknown[]): unknown => {
        if (loan.closed) return refuse(name, value, poolReleased());
        try {
          source.assertOwn(tenant, name, args);
        } catch (error) {
          return refuse(name, value, error);
        }
        const result = loan.call(source.calls, target, name, value as Method, args);
        return name === 'clone' ? Promise.resolve(result).then(confined) : result;
      };
    },
    set(target, name, value) {
      if (loan.closed) throw poolReleased();
      loan.lasting = true;
      return Reflect.set(target, name, value, target);
    },
  };
  return {
    runtime: new Proxy(runtime, handler),
    get fit() {
      return !loan.lasting && !loan.underWay.any;
    },
    close: () => {
      loan.closed = true;
    },
  };
}

// What is known of one loan.
class Loan {
  closed = false;
  /** Whether something was done that a rollback does not take back. */
  lasting = false;
  readonly underWay = new UnderWay();
  readonly #handleCalls: CallRules;
  // One for each handle: who asks twice gets the same.
  readonly #handles = new WeakMap<object, object>();

  constructor(handleCalls: CallRules) {
    this.#handleCalls = handleCalls;
  }

  /** Calls `method` of `target`, and notices what it does. */
  call(rules: CallRules, target: object, name: PropertyKey, method: Method, args: unknown[]): unknown {
    if (rules.lasting.has(name)) this.lasting = true;
    const given: unknown = Reflect.apply(method, target, args);
    const result = rules.begun.has(name) ? given : this.underWay.follow(given);
    return rules.handles.has(name) ? (result as Promise<unknown>).then((handed) => this.#lent(handed)) : result;
  }

  // A handle, or a list of them. What it knows may be looked at for ever.
  #lent(handed: unknown): unknown {
    if (Array.isArray(handed)) return handed.map((one) => this.#lent(one));
    const handle = handed as object;
    const known = this.#handles.get(handle);
    if (known !== undefined) return known;
    const lent = new Proxy(handle, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function' || name === 'constructor') return value;
        return (...args: unknown[]): unknown =>
          this.closed ? refuse(name, value, poolReleased()) : this.call(this.#handleCalls, target, name, value as Method, args);
      },
    });
    this.#handles.set(handle, lent);
    return lent;
  }
}

const AsyncFunction = (async () => {}).constructor;

// As the method itself would: those that give promises reject. To dispose of what has been given back is fine, as it is twice elsewhere.
function refuse(name: PropertyKey, method: unknown, error: unknown): unknown {
  if (name === 'dispose' || name === asyncDispose) return Promise.resolve();
  if (method instanceof AsyncFunction) return Promise.reject(error);
  throw error;
}
