// Calls listeners of the app from work that must continue even if a listener throws.

/** Calls `listener`. An error that `listener` throws becomes an uncaught exception, as in Node. */
export function callListener(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}
