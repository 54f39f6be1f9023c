// The option `idle` of a runtime, and the test that accepts what is certainly correct.

/** What becomes of a runtime that nobody uses. */
export interface IdleOptions {
  /** After how many milliseconds without a call, and with nothing open, 1 to 2,147,483,647. */
  afterMs: number;
  /**
   * `'pause'`: it goes to sleep on disk, its memory is given back, and the next call wakes it and goes on as if nothing had been. `'dispose'`: it is disposed of, and the
   * next call fails with `ERR_RUNTIME_DISPOSED`.
   */
  action: 'pause' | 'dispose';
  /**
   * Told why it could not be put to sleep (it goes on, and the next attempt waits twice as long), or what has been left on disk could not be removed.
   * What it throws is an uncaught exception.
   * @default a warning of the process
   */
  onError?: (error: unknown) => void;
}

/** Bounds of `afterMs`; the largest is what a timer of Node takes, 24 days. */
export const IDLE_WHOLE = { min: 1, max: 2_147_483_647 } as const;

const TESTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  __proto__: null as never,
  afterMs: (value) => Number.isInteger(value) && (value as number) >= IDLE_WHOLE.min && (value as number) <= IDLE_WHOLE.max,
  action: (value) => value === 'pause' || value === 'dispose',
  onError: (value) => value === undefined || typeof value === 'function',
};

/** Whether `value` is certainly what `idle` may be. */
export function isIdle(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (!('afterMs' in value) || !('action' in value)) return false;
  return Object.entries(value).every(([name, given]) => TESTS[name]?.(given) === true);
}
