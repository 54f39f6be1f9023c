// Plans the rows of the lifecycle benchmark: each size of each operation, and the number of rounds.
// A short round is repeated more often. By default, a row whose guests write 500 MB or more has 5
// rounds. Published scripts have 3 to 5 rounds.

import { guessFor, type Shape } from './operation.js';
import { type OperationName, operations } from './operations/index.js';

export interface RowPlan extends Shape {
  operation: OperationName;
  /** Counted rounds. The budget can lower the number. */
  rounds: number;
  /** Rounds before the counted rounds. */
  warmup: number;
  /** A rough guess of the milliseconds of one round, used only to divide the budget among rows. */
  guessMs: number;
}

export function planRows(only: readonly OperationName[], quick: boolean): RowPlan[] {
  return only.flatMap((name) => {
    const operation = operations[name];
    return (quick ? operation.quickSizes : operation.sizes).map((shape) => ({
      operation: name,
      ...shape,
      rounds: quick ? 2 : (operation.rounds ?? roundsFor(shape)),
      warmup: 1,
      guessMs: operation.guessMs?.(shape) ?? guessFor(shape),
    }));
  });
}

function roundsFor({ n, megabytes }: Shape): number {
  if (n * megabytes >= 500) return 5;
  if (n * megabytes >= 50) return 9;
  return n >= 20 ? 20 : 40;
}

/** Returns the name of a row's variant: the state of its runtimes, and the way of the operation. */
export const variantOf = ({ megabytes, way }: Shape): string =>
  way === 'in files' ? `${megabytes} MB ${way}` : [...(way === undefined ? [] : [way]), dirtyText(megabytes)].join(', ');

export const dirtyText = (megabytes: number): string => (megabytes === 0 ? 'fresh' : `${megabytes} MB dirty`);
