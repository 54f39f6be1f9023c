// Which rows the benchmark has, and how many rounds each gets: more where a round is short, 5 (the field's scripts have 3 to 5) where a guest writes a gigabyte.

import type { Shape } from './operation.js';

export const OPERATIONS = ['snapshot', 'create', 'rollback', 'clone', 'pause', 'spawn', 'branch', 'durable'] as const;
export type OperationName = (typeof OPERATIONS)[number];

export interface RowPlan extends Shape {
  operation: OperationName;
  /** Rounds that count; the budget may lower it. */
  rounds: number;
  /** Rounds before them, which do not count. */
  warmup: number;
  /** A rough guess of one round, used only to share out the time. */
  guessMs: number;
}

/** Megabytes that the guest writes before a snapshot: the field's sweep. */
export const SWEEP = [0, 10, 50, 100, 200, 500, 800, 1_024] as const;

type Sizes = Readonly<Record<OperationName, readonly (readonly [n: number, megabytes: number, way?: string])[]>>;

const SIZES: Sizes = {
  snapshot: [
    ...SWEEP.map((megabytes) => [1, megabytes] as const),
    [5, 0],
    [10, 0],
    [10, 100],
    [1, 100, 'in files'],
    [1, 1_024, 'in files'],
  ],
  create: [...[1, 10, 20, 50, 100].map((n) => [n, 0] as const), [10, 100]],
  rollback: [0, 100].flatMap((megabytes) => [1, 5, 10].map((n) => [n, megabytes] as const)),
  clone: [10, 0].flatMap((megabytes) => [1, 10, 20, 100].map((n) => [n, megabytes] as const)),
  pause: [...[1, 5, 10].map((n) => [n, 0] as const), [1, 100]],
  spawn: ['clone', 'create'].flatMap((way) => [1, 10, 50, 100].map((n) => [n, 0, way] as const)),
  branch: [0, 100, 1_536].map((megabytes) => [1, megabytes] as const),
  durable: [...[1, 10, 50].map((n) => [n, 0] as const), [1, 100]],
};

/** The same operations, with sizes that a test can wait for. */
const QUICK: Sizes = {
  snapshot: [
    [1, 0],
    [2, 2],
    [1, 3, 'in files'],
  ],
  create: [[3, 0]],
  rollback: [[2, 1]],
  clone: [[3, 1]],
  pause: [[2, 0]],
  spawn: [
    [2, 0, 'clone'],
    [2, 0, 'create'],
  ],
  branch: [[1, 1]],
  durable: [[2, 0]],
};

export function planRows(only: readonly OperationName[], quick: boolean): RowPlan[] {
  const sizes = quick ? QUICK : SIZES;
  return only.flatMap((operation) =>
    sizes[operation].map(([n, megabytes, way]) => ({
      operation,
      n,
      megabytes,
      ...(way !== undefined && { way }),
      rounds: quick ? 2 : roundsFor(operation, n, megabytes),
      warmup: 1,
      guessMs: 20 + 3 * n + megabytes * (operation === 'branch' ? 0.2 : 3 * n) + (operation === 'durable' ? 15 * n : 0),
    })),
  );
}

function roundsFor(operation: OperationName, n: number, megabytes: number): number {
  if (operation === 'branch') return 20;
  if (n * megabytes >= 500) return 5;
  if (n * megabytes >= 50) return 9;
  return n >= 20 ? 20 : 40;
}

/** What stands in a row's name beside its operation. */
export const variantOf = ({ megabytes, way }: Shape): string =>
  way === 'in files' ? `${megabytes} MB ${way}` : [...(way === undefined ? [] : [way]), dirtyText(megabytes)].join(', ');

const dirtyText = (megabytes: number): string => (megabytes === 0 ? 'fresh' : `${megabytes} MB dirty`);
