// Reasons to doubt a pool run, in words.

import { floorWarnings } from '../report/warnings.js';
import { nameOf } from './measure.js';
import type { PoolMeasurements } from './report.js';
import type { Tallied } from './tally.js';

export function poolWarnings({ floors, amortised, crowds, hygiene, skipped }: PoolMeasurements): string[] {
  const wrong = (name: string, { total, right, failures }: Tallied): string[] =>
    right === total ? [] : [`${name}: ${total - right} of ${total} were wrong: ${Object.keys(failures)[0] ?? 'unknown'}`];
  return [
    ...floorWarnings(floors),
    ...amortised.flatMap((row) => wrong(nameOf(row), row)),
    ...crowds.flatMap((row) => wrong(`${row.way}, ${row.at} at once`, row)),
    ...(hygiene ? wrong('checkouts', hygiene) : []),
    ...skipped.map(({ row, reason }) => `${row} skipped: ${reason}`),
  ];
}
