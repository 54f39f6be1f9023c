// The bounds of the limits, for the tests in `check.ts`, the schemas in `schemas.ts` and the hints in `hints.ts`. They are those of the sidecar's
// own table, `crates/core/src/limits.rs`, which checks them again, but for the last.

import type { LimitName } from './limits.js';

const MIB = 1_048_576;
const TERABYTE = 1_099_511_627_776;
/** The largest number of milliseconds that a timer of Node takes, and the largest buffer. */
const LARGEST = 2_147_483_647;

/** Smallest and largest value of each limit, and its unit. */
export const LIMITS: Readonly<Record<LimitName | 'fetchResponseBytes', { min: number; max: number; unit: string }>> = {
  memoryBytes: { min: 1, max: 2_048 * MIB, unit: 'bytes' },
  totalMemoryBytes: { min: 1, max: TERABYTE, unit: 'bytes' },
  kernelBytes: { min: 65_536, max: TERABYTE, unit: 'bytes' },
  cpuMs: { min: 1, max: LARGEST, unit: 'milliseconds' },
  wallMs: { min: 0, max: LARGEST, unit: 'milliseconds' },
  processes: { min: 1, max: 65_536, unit: 'processes' },
  descriptors: { min: 3, max: 65_536, unit: 'descriptors' },
  pipes: { min: 0, max: 196_608, unit: 'pipes' },
  pipeBytes: { min: 4_096, max: 16 * MIB, unit: 'bytes' },
  sockets: { min: 0, max: 65_536, unit: 'sockets' },
  socketBytes: { min: 4_096, max: 16 * MIB, unit: 'bytes' },
  filesystemBytes: { min: 0, max: TERABYTE, unit: 'bytes' },
  inodes: { min: 0, max: 16 * MIB, unit: 'files' },
  hostFiles: { min: 0, max: 65_536, unit: 'files' },
  watches: { min: 0, max: 65_536, unit: 'watches' },
  operations: { min: 16, max: MIB, unit: 'operations' },
  argvBytes: { min: 4_096, max: 16 * MIB, unit: 'bytes' },
  envBytes: { min: 4_096, max: 16 * MIB, unit: 'bytes' },
  stdinBytes: { min: 0, max: LARGEST, unit: 'bytes' },
  outputBytes: { min: 0, max: LARGEST, unit: 'bytes' },
  resultBytes: { min: 0, max: 16 * MIB, unit: 'bytes' },
  // Kept by this package alone; the largest is that of `maxResponseBytes`.
  fetchResponseBytes: { min: 0, max: 536_870_888, unit: 'bytes' },
};

/** All names. */
export const LIMIT_NAMES = Object.keys(LIMITS) as readonly (keyof typeof LIMITS)[];

/** Whether `value` names a profile. */
export const isProfile = (value: unknown): boolean => value === 'default' || value === 'hardened';
