// The proxy of a slot's runtime for one user.
//
// After the release the proxy refuses every call, because the slot may belong to another user. The
// programs and runners that the proxy returned refuse calls too. The proxy also records effects
// that a rollback does not undo, and calls that are still pending. The proxy refuses calls that
// would leave data where other tenants can find the data.

import { asyncDispose } from '../async-dispose.js';
import { poolReleased } from '../errors/make.js';
import { PendingWork } from './pending-work.js';
import type { CallRules, PoolableRuntime, SlotSource } from './slot-source.js';

/** A runtime that is lent to one user. */
export interface LentRuntime<R> {
  readonly runtime: R;
  /** Whether a rollback undoes everything that the user did, and no call of the user is pending. */
  readonly isReusable: boolean;
  /** Refuses all further calls. */
  close(): void;
}

type Method = (...args: unknown[]) => unknown;

/** Returns a proxy of `runtime` for one user of `tenant`. */
export function lend<R extends PoolableRuntime>(
  runtime: R,
  tenant: string,
  source: Pick<SlotSource<R>, 'calls' | 'handleCalls' | 'partCalls' | 'assertOwn'>,
): LentRuntime<R> {
  const loan = new Loan(source.handleCalls);
  // The user keeps clones without a time limit, but clones must not leave data where other tenants
  // can find the data.
  const confined = (clones: unknown): unknown => {
    if (Array.isArray(clones)) return clones.map(confined);
    if (clones instanceof runtime.constructor) return lend(clones as R, tenant, source).runtime;
    const { status, value } = clones as PromiseSettledResult<R> & { value: R };
    return status === 'fulfilled' ? { status, value: confined(value) } : clones;
  };
  const handler: ProxyHandler<R> = {
    get(target, name) {
      // The property is read with the runtime as receiver, because the proxy has no private fields.
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function' || name === 'constructor') {
        if (loan.closed && name !== 'then' && name !== 'constructor') throw poolReleased();
        source.assertOwn(tenant, name, []);
        const rules = source.partCalls?.get(name);
        return rules === undefined ? value : loan.lendPart(value as object, rules);
      }
      return (...args: unknown[]): unknown => {
        if (loan.closed) return refuse(source.calls, name, poolReleased());
        try {
          source.assertOwn(tenant, name, args);
        } catch (error) {
          return refuse(source.calls, name, error);
        }
        const result = loan.call(source.calls, target, name, value as Method, args);
        return name === 'clone' ? Promise.resolve(result).then(confined) : result;
      };
    },
    set(target, name, value) {
      if (loan.closed) throw poolReleased();
      loan.isChanged = true;
      return Reflect.set(target, name, value, target);
    },
  };
  return {
    runtime: new Proxy(runtime, handler),
    get isReusable() {
      return !loan.isChanged && !loan.pending.any;
    },
    close: () => {
      loan.closed = true;
    },
  };
}

/** Records the effects of one user's calls. */
class Loan {
  closed = false;
  /** Whether a call had an effect that a rollback does not undo. */
  isChanged = false;
  readonly pending = new PendingWork();
  readonly #handleCalls: CallRules;
  /** The proxy of each handle, so that the user gets one proxy for one handle. */
  readonly #handles = new WeakMap<object, object>();

  constructor(handleCalls: CallRules) {
    this.#handleCalls = handleCalls;
  }

  /** Calls `method` of `target` and records its effects. */
  call(rules: CallRules, target: object, name: PropertyKey, method: Method, args: unknown[]): unknown {
    if (rules.lasting.has(name)) this.isChanged = true;
    const returned: unknown = Reflect.apply(method, target, args);
    const startsProgram = rules.startsProgram.has(name) && !rules.checksFirst?.(args);
    const result = startsProgram ? returned : this.pending.follow(returned);
    return rules.returnsHandles.has(name) ? (result as Promise<unknown>).then((handles) => this.#lend(handles)) : result;
  }

  /** Wraps a part of the runtime, whose calls have `rules`. */
  lendPart(part: object, rules: CallRules): object {
    return this.#lendOne(part, rules);
  }

  // Wraps a handle, or a list of handles. Their properties stay readable after the release.
  #lend(handles: unknown): unknown {
    if (Array.isArray(handles)) return handles.map((handle) => this.#lend(handle));
    return this.#lendOne(handles as object, this.#handleCalls);
  }

  #lendOne(handle: object, rules: CallRules): object {
    const present = this.#handles.get(handle);
    if (present !== undefined) return present;
    const lent = new Proxy(handle, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function' || name === 'constructor' || name === 'toJSON') return value;
        return (...args: unknown[]): unknown =>
          this.closed ? refuse(rules, name, poolReleased()) : this.call(rules, target, name, value as Method, args);
      },
    });
    this.#handles.set(handle, lent);
    return lent;
  }
}

// Fails as the method itself would, by a rejection or by an exception. A call of `dispose()`
// resolves without an effect.
function refuse({ immediate }: CallRules, name: PropertyKey, error: unknown): unknown {
  if (name === 'dispose' || name === asyncDispose) return Promise.resolve();
  if (immediate.has(name) || Object.hasOwn(Object.prototype, name)) throw error;
  return Promise.reject(error);
}
