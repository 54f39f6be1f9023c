// The bounds of option values, for the tests in `check.ts` and the schemas in `schemas.ts` alike.

/** Smallest and largest value of each option that is a whole number. */
export const WHOLE = {
  /** Milliseconds; the largest is what a timer of Node takes, 24 days. */
  timeout: { min: 1, max: 2_147_483_647 },
  /** Permissions, with the sticky bit. */
  mode: { min: 0, max: 0o1777 },
  /** A byte of a file. */
  position: { min: 0, max: Number.MAX_SAFE_INTEGER - 1 },
  /** Threads. */
  workers: { min: 1, max: 256 },
  /** Slots. */
  warmSlots: { min: 0, max: 4_096 },
  /** Runtimes. */
  maxRuntimes: { min: 1, max: 65_536 },
  /** Microseconds. */
  spinUs: { min: 0, max: 10_000 },
} as const;

/** The largest `inlineBudgetMs`: longer than that no event loop should stand still. */
export const MAX_INLINE_BUDGET_MS = 1_000;

/** An absolute guest path. */
export const GUEST_PATH = /^\/[^\0]*$/s;

/** A folder of this machine. */
export const HOST_PATH = /^[^\0]+$/s;

/** The name of an environment variable. */
export const ENV_NAME = /^[^=\0]+$/s;

/** Text that can be handed to a program: no NUL. */
export const TEXT = /^[^\0]*$/s;
