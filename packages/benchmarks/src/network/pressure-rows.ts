// The rows about many rules, unused options, updates under load, and floods of another runtime.

import { measureBeside, measureUnderUpdates } from './pressure.js';
import type { NetworkRow } from './row.js';
import { measureFirstUse, measureRules, measureUnused } from './rules.js';

export const pressureRows: readonly NetworkRow[] = [
  {
    name: 'a connection with 1,024 rules',
    unit: 'µs',
    floor: 'one rule',
    target: { promise: 'N5', atMost: 1.02, of: 'ratio' },
    measure: measureRules,
  },
  {
    name: 'a start with an unused `outside`',
    unit: 'µs',
    floor: 'without the option',
    target: { promise: 'N15', atMost: 1.02, of: 'ratio' },
    measure: measureUnused,
  },
  {
    name: 'the first use of a sidecar, less a later use',
    unit: 'ms',
    target: { promise: 'N20', atMost: 3, of: 'value' },
    measure: measureFirstUse,
  },
  {
    name: 'the p99 of a round trip under 10 updates per second',
    unit: 'µs',
    floor: 'no updates',
    compares: 'p99',
    target: { promise: 'N7', atMost: 1.1, of: 'ratio' },
    measure: measureUnderUpdates,
  },
  {
    name: 'the p99 of 100 quiet runtimes beside a flood of bytes',
    unit: 'µs',
    floor: 'no flood',
    compares: 'p99',
    target: { promise: 'N13', atMost: 1.5, of: 'ratio' },
    measure: (setup) => measureBeside('bytes', setup),
  },
  {
    name: 'the p99 of 100 quiet runtimes beside a flood of connections',
    unit: 'µs',
    floor: 'no flood',
    compares: 'p99',
    target: { promise: 'N13', atMost: 1.5, of: 'ratio' },
    measure: (setup) => measureBeside('connects', setup),
  },
  {
    name: 'the p99 of 100 quiet runtimes beside a flood of lookups',
    unit: 'µs',
    floor: 'no flood',
    compares: 'p99',
    target: { promise: 'N13', atMost: 1.5, of: 'ratio' },
    measure: (setup) => measureBeside('lookUps', setup),
  },
];
