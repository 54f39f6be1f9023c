// Work in a runtime that may be asleep. Next: `wakeful.ts`, who has it done.

import type { IdlePolicy } from './idle.js';

/** What `work` gives, begun when the runtime is awake, which it stays until that has come. */
export function whileUsed<T>(policy: IdlePolicy, work: () => T): T | Promise<Awaited<T>> {
  const done = policy.use();
  const ready = policy.ready();
  let result: T | Promise<T>;
  try {
    result = ready === undefined ? work() : ready.then(work);
  } catch (error) {
    done();
    throw error;
  }
  if (!(result instanceof Promise)) {
    done();
    return result;
  }
  return result.finally(done) as Promise<Awaited<T>>;
}
