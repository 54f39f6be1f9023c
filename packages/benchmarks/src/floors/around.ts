// Floors around a run: one half before it, one after it.

import { type FloorDefinition, type FloorHalf, type FloorResult, joinHalves, takeHalf } from './floor.js';
import { floors as allFloors } from './index.js';

export type Floors = Record<string, FloorResult>;

export async function withFloors<T>(
  samples: number,
  say: (line: string) => void,
  work: () => Promise<T>,
  floors: readonly FloorDefinition[] = allFloors,
): Promise<{ floors: Floors; result: T }> {
  const take = async (count: number) => {
    const halves: FloorHalf[] = [];
    for (const floor of floors) halves.push(await takeHalf(floor, count));
    return halves;
  };
  say('floors, first half');
  const first = await take(Math.floor(samples / 2));
  const result = await work();
  say('floors, second half');
  const second = await take(Math.ceil(samples / 2));
  const none: FloorHalf = { samples: [], attempts: 0 };
  const joined = floors.map(
    (floor, index) => [floor.name, joinHalves(floor, first[index] ?? none, second[index] ?? none)] as const,
  );
  return { floors: Object.fromEntries(joined), result };
}
