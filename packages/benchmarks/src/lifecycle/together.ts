// Several at once, each with its laps: how long after the common start it got where.
//
// The wall time of a lap is when the last of them got there; one that failed meanwhile counts there with the time at which it failed, as failures
// must not make a row look quicker.

import { now } from '../stats/timer.js';
import { reason } from './box.js';

export interface Timing {
  wallMs: number;
  /** By place; `undefined` where it was not reached. */
  eachMs: (number | undefined)[];
}

export interface Together<T> {
  laps: Record<string, Timing>;
  items: ({ value: T } | { error: string })[];
}

export type Lap = (name: string) => void;

export async function together<T>(count: number, work: (index: number, lap: Lap) => Promise<T>): Promise<Together<T>> {
  const stamps: Record<string, (number | undefined)[]> = {};
  const failedAt: number[] = [];
  const startedAt = now();
  const items = await Promise.all(
    Array.from({ length: count }, async (_, index): Promise<{ value: T } | { error: string }> => {
      const lap: Lap = (name) => {
        const at = now() - startedAt;
        stamps[name] ??= Array.from({ length: count }, () => undefined);
        stamps[name][index] = at;
      };
      try {
        return { value: await work(index, lap) };
      } catch (error) {
        failedAt.push(now() - startedAt);
        return { error: reason(error) };
      }
    }),
  );
  const laps = Object.entries(stamps).map(([name, eachMs]) => {
    const reached = eachMs.filter((value) => value !== undefined);
    return [name, { wallMs: Math.max(...reached, ...failedAt), eachMs }] as const;
  });
  return { laps: Object.fromEntries(laps), items };
}

export const isValue = <T>(item: { value: T } | { error: string } | undefined): item is { value: T } =>
  item !== undefined && 'value' in item;
