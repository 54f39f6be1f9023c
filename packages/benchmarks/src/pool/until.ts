// Waiting for what a pool does in the background.

import { now } from '../stats/timer.js';

const LIMIT_MS = 10_000;

export async function until(what: string, is: () => boolean, limitMs = LIMIT_MS): Promise<void> {
  const end = now() + limitMs;
  while (!is()) {
    if (now() > end) throw new Error(`${what} did not come about in ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
