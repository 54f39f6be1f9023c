// Rates of requests in flight at once, with the definitions of other systems. A creation with its
// deletion is measured until the response, or until a first command has answered.

import { type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import { reason } from '../suite/failures.js';
import type { Place } from './place.js';
import { inFlight, type ServeSetup } from './row.js';

/** A row of a rate. */
export interface RateRow {
  name: string;
  total: number;
  width: number;
  /** One call of the row. Returns the milliseconds that count as its time. */
  call(place: Place, index: number): Promise<number>;
}

/** One result in the JSON. */
export interface RateResult {
  name: string;
  total: number;
  width: number;
  right: number;
  /** Right calls per second of the whole row. */
  perSecond: number;
  times: Statistics | null;
  failure?: string;
}

const createAndDelete = async (place: Place): Promise<number> => {
  const from = now();
  const remote = await place.create();
  const time = now() - from;
  await place.kill(remote);
  return time;
};

const createRunAndDelete = async (place: Place): Promise<number> => {
  const from = now();
  const remote = await place.create();
  try {
    if ((await place.run(remote, 'echo 1')) !== '1\n') throw new Error('the command has another output');
    return now() - from;
  } finally {
    await place.kill(remote);
  }
};

/** Lines of one stream, which arrive over some time. */
const LINES = 20;
const STREAM = `for i in $(seq ${LINES}); do echo line $i; sleep 0.02; done`;
const STREAMED = Array.from({ length: LINES }, (_, at) => `line ${at + 1}\n`).join('');

const streamOne = async (place: Place): Promise<number> => {
  const remote = await place.create();
  try {
    const from = now();
    if ((await place.run(remote, STREAM)) !== STREAMED) throw new Error('a line is missing');
    return now() - from;
  } finally {
    await place.kill(remote);
  }
};

/** The names of the rows with a target. */
export const CREATES = 'creates at once';
export const STREAMS = 'streams of 200 clients at once';

/** The grid of CubeSandbox's benchmark: calls in flight, and calls. */
const GRID = [
  [1, 20],
  [10, 200],
  [20, 300],
  [50, 300],
] as const;

/** Returns the rows. `share` scales the number of calls. */
export const rateRows = (share: number): RateRow[] => {
  const some = (total: number): number => Math.max(4, Math.round(total * share));
  return [
    { name: CREATES, total: some(2_000), width: 64, call: createAndDelete },
    ...GRID.map(([width, total]) => ({
      name: `create and delete, ${width} in flight`,
      total: some(total),
      width,
      call: createAndDelete,
    })),
    ...GRID.map(([width, total]) => ({
      name: `create, first command and delete, ${width} in flight`,
      total: some(total),
      width,
      call: createRunAndDelete,
    })),
    { name: STREAMS, total: some(200), width: 200, call: streamOne },
  ];
};

/** Measures a row. Failed calls count in the time and not in the rate. */
export async function measureRate({ name, total, width, call }: RateRow, { place }: ServeSetup): Promise<RateResult> {
  const times: number[] = [];
  let failure: string | undefined;
  // Serial calls, which are not counted.
  for (let round = 0; round < 3; round++) await call(place, round);
  const from = now();
  await inFlight(total, width, async (index) => {
    try {
      times.push(await call(place, index));
    } catch (error) {
      failure ??= reason(error);
    }
  });
  const perSecond = (times.length * 1_000) / (now() - from);
  const right = times.length;
  return { name, total, width, right, perSecond, times: summarize(times), ...(failure === undefined ? {} : { failure }) };
}
