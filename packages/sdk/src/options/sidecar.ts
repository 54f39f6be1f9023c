// Options of `Sidecar.spawn()` and `Sidecar.embedded()`.

import type { BootTimingListener } from './boot-timing.js';
import { CALLBACK, oneOf, rule, whole } from './rule.js';
import { SNAPSHOT_STORE, type SnapshotStoreOptions } from './snapshots.js';
import { known, type OptionTable } from './table.js';

/** Options of every sidecar. The defaults suit an app that runs many short programs. */
export interface SidecarOptions {
  /** Threads that run guests, 1 to 256. @default one for each processor */
  workers?: number | undefined;
  /**
   * Warm slots: memory slots that are kept mapped and clean for the next programs, 0 to 4,096. A
   * program that finds no warm slot waits until a slot is mapped.
   * @default 16
   */
  warmSlots?: number | undefined;
  /**
   * The largest number of runtimes at a time, 1 to 65,536. Beyond the limit, a new runtime fails
   * with `ERR_RESOURCE_EXHAUSTED`. The number of running programs has a further bound: each program
   * needs about five memory mappings, and Linux allows 65,530 mappings in a process.
   * @default 10,000
   */
  maxRuntimes?: number | undefined;
  /**
   * Microseconds, 0 to 10,000, that a thread polls for more work after a reply before it sleeps. A
   * program that is started in that time starts without delay. While the thread polls, the thread
   * uses a processor. In embedded mode, Node's own thread also polls for this time when exactly one
   * call is pending.
   * @default 50 in a process, 100 embedded (0 with an inline budget)
   */
  spinUs?: number | undefined;
  /** The store of snapshots. */
  snapshots?: SnapshotStoreOptions | undefined;
  /** Receives `sidecar_spawn` (of a process), `session_open` and `module_load`. */
  onBootTiming?: BootTimingListener | undefined;
}

/**
 * Whether the operating system restricts the sidecar's process (the second wall). `auto` builds
 * each part that the system allows. `required` refuses the start with `ERR_WALLS_MISSING` if a part
 * is missing. `off` builds no part, for debugging.
 */
export type WallMode = 'auto' | 'required' | 'off';

/** Options of `Sidecar.spawn()`. */
export interface SidecarSpawnOptions extends SidecarOptions {
  /**
   * Whether the operating system restricts the sidecar's process. `auto` builds each part of the
   * wall that the system allows, see `sidecar.walls`. `required` refuses the start if a part is
   * missing. `off` builds no part, for debugging.
   * @default 'auto'
   */
  walls?: WallMode | undefined;
}

/** Options of `Sidecar.embedded()`. */
export interface SidecarEmbeddedOptions extends SidecarOptions {
  /**
   * Milliseconds, 0 to 1,000, that a program may run on the calling thread before it moves to a
   * worker thread. Waking a worker thread takes longer than a short evaluation. While a guest runs
   * on the calling thread, that thread runs no other code of this process. If 0, no guest runs on
   * the calling thread.
   * @default 0
   */
  inlineBudgetMs?: number | undefined;
}

/** The largest `inlineBudgetMs`, because a guest on the calling thread blocks the event loop. */
const MAX_INLINE_BUDGET_MS = 1_000;
const isBudget = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= MAX_INLINE_BUDGET_MS;

/** The rule of the option `walls`. */
export const WALLS = oneOf(['auto', 'required', 'off'], "'auto', 'required' or 'off'");

const EVERY_SIDECAR: OptionTable<SidecarOptions> = {
  onBootTiming: CALLBACK,
  workers: known(whole(1, 256, 'threads'), ['threads']),
  warmSlots: whole(0, 4_096, 'slots'),
  maxRuntimes: whole(1, 65_536, 'runtimes'),
  spinUs: whole(0, 10_000, 'microseconds'),
  snapshots: SNAPSHOT_STORE,
};

/** The option table of a sidecar process. */
export const SIDECAR: OptionTable<SidecarSpawnOptions> = { ...EVERY_SIDECAR, walls: WALLS };

/** The option table of an embedded sidecar. */
export const EMBEDDED_SIDECAR: OptionTable<SidecarEmbeddedOptions> = {
  ...EVERY_SIDECAR,
  inlineBudgetMs: known(
    rule(isBudget, `a number of milliseconds from 0 to ${MAX_INLINE_BUDGET_MS}`),
    ['inlineBudget'],
    ', in milliseconds',
  ),
};
