// Published figures of other systems for the operations of the lifecycle benchmark.
//
// Every figure has its kind: a mean, a percentile, or a claim without a table. Definitions
// differ in details, and `note` describes the differences that matter.

import type { PublishedRig } from './system.js';

export interface PublishedOperation extends PublishedRig {
  operation: string;
  measure: string;
  n: number;
  /**
   * Megabytes that the guest had written before the operation. Absent if the source states no size.
   */
  megabytes?: number;
  /** The wall time of all `n` runtimes together. */
  ms: number;
  is: 'mean' | 'p50' | 'p95' | 'claim';
  note?: string;
}

type Head = Pick<PublishedOperation, 'system' | 'isolation' | 'rig' | 'is'>;
type Figure = readonly [operation: string, measure: string, n: number, megabytes: number | undefined, ms: number, note?: string];

const figures = (head: Head, ...rows: readonly Figure[]): PublishedOperation[] =>
  rows.map(([operation, measure, n, megabytes, ms, note]) => ({
    ...head,
    operation,
    measure,
    n,
    ...(megabytes !== undefined && { megabytes }),
    ms,
    ...(note !== undefined && { note }),
  }));

const CUBE: Head = { system: 'CubeSandbox (PVM)', isolation: 'micro-VM', rig: '16 vCPU EPYC 9K65', is: 'mean' };
const CUBE_METAL: Head = { system: 'CubeSandbox (bare metal)', isolation: 'micro-VM', rig: 'Xeon 8255C, 96 threads', is: 'mean' };
const FORKD: Head = { system: 'forkd', isolation: 'micro-VM', rig: 'i7-12700', is: 'p50' };
const COPPICE: Head = { system: 'Coppice', isolation: 'micro-VM', rig: 'Ryzen 9 5900HX', is: 'mean' };

/**
 * Sizes of the published sweep: megabytes, and milliseconds of the snapshot and of the creation.
 */
const SWEEP: readonly (readonly [megabytes: number, snapshot: number, create: number])[] = [
  [0, 42.1, 71.6],
  [10, 55.3, 73.1],
  [50, 67.7, 70.3],
  [100, 85.7, 68.3],
  [200, 100.9, 65.9],
  [500, 168.6, 68.1],
  [800, 215.8, 68.1],
  [1_024, 257.5, 62.3],
];

const DIRTY_WRITE = 'its time includes the dirty write, if any';

export const publishedLifecycle: readonly PublishedOperation[] = [
  ...figures(
    CUBE,
    ['snapshot', 'snapshot', 1, 0, 41.4],
    ['snapshot', 'snapshot', 5, 0, 58.2],
    ['snapshot', 'snapshot', 10, 0, 114.1],
    ...SWEEP.slice(1).map(([megabytes, ms]) => ['snapshot', 'snapshot', 1, megabytes, ms] as const),
    ...SWEEP.map(
      ([megabytes, , ms]) =>
        ['snapshot', 'create', 1, megabytes, ms, 'until the response, without an answer of the guest'] as const,
    ),
    ['create', 'create', 1, 0, 66.7],
    ['create', 'create', 10, 0, 387.9],
    ['create', 'create', 20, 0, 701.3],
    ['rollback', 'rollback', 1, 0, 90.0, DIRTY_WRITE],
    ['rollback', 'rollback', 5, 0, 325.5, DIRTY_WRITE],
    ['rollback', 'rollback', 10, 0, 821.4, DIRTY_WRITE],
    ['clone', 'clone', 1, 10, 270.6],
    ['clone', 'clone', 10, 10, 541.6, '5 at a time'],
    ['clone', 'clone', 20, 10, 789.7, '10 at a time'],
    ['pause', 'pause', 1, 0, 370.8, 'its client polls each second'],
    ['pause', 'pause', 10, 0, 1_586, 'its client polls each second'],
    ['pause', 'resume', 1, 0, 18.9],
    ['pause', 'resume', 10, 0, 26.6],
  ),
  ...figures(
    CUBE_METAL,
    ['snapshot', 'snapshot', 1, 0, 49.8],
    ['snapshot', 'snapshot', 5, 0, 71],
    ['snapshot', 'snapshot', 10, 0, 127.2],
    ['snapshot', 'snapshot', 1, 1_024, 486.9],
    ['create', 'create', 1, 0, 63.9],
    ['create', 'create', 10, 0, 89.9],
    ['create', 'create', 20, 0, 118.9],
    ['create', 'create', 50, 0, 180.3],
    ['rollback', 'rollback', 1, 0, 81.6, DIRTY_WRITE],
    ['rollback', 'rollback', 5, 0, 189.6, DIRTY_WRITE],
    ['rollback', 'rollback', 10, 0, 266.1, DIRTY_WRITE],
    ['clone', 'clone', 1, 10, 219.6],
    ['clone', 'clone', 100, 10, 540.9, '50 at a time'],
    ['pause', 'pause', 1, 0, 558.4],
    ['pause', 'pause', 5, 0, 656.9],
    ['pause', 'pause', 10, 0, 682.1],
    ['pause', 'resume', 1, 0, 41.8],
    ['pause', 'resume', 5, 0, 28.2],
    ['pause', 'resume', 10, 0, 35.7],
  ),
  ...figures({ ...FORKD, is: 'mean' }, ['spawn', 'total', 100, undefined, 101, 'fork from a warm parent']),
  ...figures(
    { ...CUBE, rig: 'i7-12700, measured by forkd' },
    ['spawn', 'with disposal', 10, undefined, 212],
    ['spawn', 'with disposal', 50, undefined, 542],
    ['spawn', 'with disposal', 100, undefined, 1_056],
  ),
  ...figures({ system: 'Firecracker, cold', isolation: 'micro-VM', rig: 'i7-12700, measured by forkd', is: 'mean' }, [
    'spawn',
    'total',
    100,
    undefined,
    759,
  ]),
  ...figures(
    { system: 'Wisp', isolation: 'wasm', rig: 'Apple M4', is: 'mean' },
    ['spawn', 'total', 64, undefined, 28.7, 'Python, from its image'],
    ['spawn', 'total', 256, undefined, 108, 'Python, from its image'],
  ),
  ...figures(
    FORKD,
    ['branch', 'pause of the parent', 1, 1_536, 56, 'parent of 1.5 GiB; p90 64'],
    ['branch', 'branch', 1, 1_536, 69, 'parent of 1.5 GiB'],
  ),
  ...figures(
    { ...COPPICE, system: 'Coppice, durable pool' },
    ['durable', 'create', 1, undefined, 271],
    ['durable', 'create', 10, undefined, 1_565],
  ),
  ...figures({ ...COPPICE, system: 'Coppice, durable pool', is: 'p95' }, ['durable', 'create', 50, undefined, 3_103]),
  ...figures(
    { ...COPPICE, system: 'Coppice, durable prewarm' },
    ['durable', 'create', 1, undefined, 17],
    ['durable', 'create', 10, undefined, 39],
  ),
  ...figures({ ...COPPICE, system: 'Coppice, durable prewarm', is: 'p95' }, ['durable', 'create', 50, undefined, 1_290]),
  ...figures(
    { system: 'DeltaBox', isolation: 'process', rig: 'arXiv 2605.22781v2', is: 'mean' },
    ['rollback', 'rollback', 1, undefined, 1.86],
    ['snapshot', 'snapshot', 1, undefined, 10.83],
  ),
  ...figures(
    { system: 'isorun', isolation: 'micro-VM', rig: 'its site', is: 'claim' },
    ['snapshot', 'snapshot', 1, undefined, 23],
    ['pause', 'resume', 1, undefined, 21],
    ['pause', 'pause', 1, undefined, 470],
  ),
  ...figures(
    { system: 'AgentENV', isolation: 'micro-VM', rig: 'its README', is: 'claim' },
    ['pause', 'pause', 1, undefined, 100],
    ['pause', 'resume', 1, undefined, 50],
  ),
];
