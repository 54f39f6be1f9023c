// Work for every one of many, so many at a time, until a deadline.

import { now } from '../stats/timer.js';

export interface Places {
  count: number;
  width: number;
  /** On the clock of `now()`: what has not begun by then does not begin. */
  deadline: number;
}

/** Resolves with how many were not begun. Work reports its own failures: what it throws ends all of it. */
export async function inPlaces({ count, width, deadline }: Places, work: (index: number) => Promise<void>): Promise<number> {
  let begun = 0;
  const place = async () => {
    while (begun < count && now() < deadline) await work(begun++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, place));
  return count - begun;
}
