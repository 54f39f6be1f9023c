// The runtime of a slot, as its user of the moment sees it: the runtime itself, until it is given back. Who keeps the handle and calls it later would
// be in the middle of somebody else's work, so from then on it refuses. It also notices calls whose effect a rollback does not take back, and refuses those that would leave
// something where other tenants look.

import { asyncDispose } from '../async-dispose.js';
import { poolReleased } from '../errors/make.js';
import type { PoolableRuntime, SlotSource } from './poolable.js';

/** A runtime on loan. */
export interface Guard<R> {
  readonly runtime: R;
  /** Whether something was done to it that a rollback does not take back. */
  readonly lasting: boolean;
  /** From now on it refuses. */
  close(): void;
}

/** Lends `runtime` to `tenant`. */
export function guard<R extends PoolableRuntime>(
  runtime: R,
  tenant: string,
  source: Pick<SlotSource<R>, 'lasting' | 'assertOwn'>,
): Guard<R> {
  let closed = false;
  let noticed = false;
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
        if (closed && name !== 'then' && name !== 'constructor') throw poolReleased();
        source.assertOwn(tenant, name, []);
        return value;
      }
      return (...args: unknown[]): unknown => {
        if (closed) return refuse(name, value, poolReleased());
        try {
          source.assertOwn(tenant, name, args);
        } catch (error) {
          return refuse(name, value, error);
        }
        if (source.lasting.has(name)) noticed = true;
        const result: unknown = Reflect.apply(value, target, args);
        return name === 'clone' ? Promise.resolve(result).then(confined) : result;
      };
    },
    set(target, name, value) {
      if (closed) throw poolReleased();
      noticed = true;
      return Reflect.set(target, name, value, target);
    },
  };
  return {
    runtime: new Proxy(runtime, handler),
    get lasting() {
      return noticed;
    },
    close: () => {
      closed = true;
    },
  };
}

const AsyncFunction = (async () => {}).constructor;

// As the method itself would: those that give promises reject. To dispose of what has been given back is fine, as it is twice elsewhere.
function refuse(name: PropertyKey, method: unknown, error: unknown): unknown {
  if (name === 'dispose' || name === asyncDispose) return Promise.resolve();
  if (method instanceof AsyncFunction) return Promise.reject(error);
  throw error;
}
