// Declares the rows of the gate: operations of the matrix, each in one mode, with a floor and a
// threshold.
//
// The threshold is the largest ratio to the baseline that is no regression. Rows whose times depend
// on the scheduler of the machine have a larger threshold. A new row needs an entry in `declared`.

import type { MODE_NAMES } from '../matrix/sides.js';
import type { GateFloorName } from './floors.js';

export interface GateRow {
  /** The operation and the mode. Identifies the row in the baseline. */
  name: string;
  operation: string;
  side: (typeof MODE_NAMES)[number];
  /** The floor that is measured beside the row. */
  floor: GateFloorName;
  threshold: number;
}

type Declaration = readonly [operation: string, side: GateRow['side'], floor: GateFloorName, threshold: number];

const declared: readonly Declaration[] = [
  ['create, dispose', 'owned', 'process', 1.5],
  ['create, dispose', 'shared', 'round trip', 1.5],
  ['exec', 'shared', 'round trip', 1.4],
  ['exec', 'resident', 'round trip', 1.4],
  ['exec', 'embedded', 'computation', 1.5],
  ['run', 'shared', 'round trip', 1.4],
  ['command: sh, a pipeline', 'shared', 'computation', 1.4],
  ['a line to stdin and back', 'shared', 'round trip', 1.5],
  ['fetch', 'shared', 'round trip', 1.5],
  ['connect, a round trip, end', 'shared', 'round trip', 1.5],
  ['writeFile 4 KiB', 'shared', 'round trip', 1.4],
  ['readFile 4 KiB', 'shared', 'round trip', 1.4],
  ['binding', 'shared', 'round trip', 1.5],
  ['child: node -e', 'shared', 'computation', 1.4],
  ['TCP round trip', 'shared', 'computation', 1.4],
  ['HTTP request', 'shared', 'computation', 1.3],
  ['stat (memory)', 'shared', 'computation', 1.3],
  ['read 4 KiB (memory)', 'shared', 'computation', 1.3],
  ['read 4 KiB (mount)', 'shared', 'computation', 1.4],
  ['stat (app fs)', 'shared', 'round trip', 1.5],
];

export const gateRows: readonly GateRow[] = declared.map(([operation, side, floor, threshold]) => ({
  name: `${operation}, ${side}`,
  operation,
  side,
  floor,
  threshold,
}));
