// A listener of the app's, called from work of ours that must go on whatever it does.

/** Calls it. What it throws is an uncaught exception, as from a listener of Node's. */
export function callListener(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}
