// Waits for the background work of a pool. The pool reports no event for this work, so the
// condition is polled.

import { now } from '../statistics/timer.js';

const LIMIT_MS = 10_000;

/** Waits until `condition` is true. @throws after `limitMs`, with a message that names `what`. */
export async function until(what: string, condition: () => boolean, limitMs = LIMIT_MS): Promise<void> {
  const end = now() + limitMs;
  while (!condition()) {
    if (now() > end) throw new Error(`${what} was not reached in ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
