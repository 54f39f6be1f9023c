// Measures durations. The first use of the global `performance` makes Node load `node:perf_hooks`,
// which would be a part of the time to the first program.

/** Returns the milliseconds since an arbitrary time in the past. */
export function now(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}
