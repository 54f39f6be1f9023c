// Nothing that a pool waits for may hang for ever: a slot that is stuck would be a slot less until the app is started anew.

/** How long one step of a slot's life may take before the slot is given up. */
export const STEP_MS = 30_000;

/**
 * What `work` gives, or `late()` as an error once it has taken `STEP_MS`; what it gives after that goes to `discard`. The timer keeps no process alive.
 */
export function within<T>(work: Promise<T>, late: () => Error, discard?: (value: T) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    let over = false;
    const timer = setTimeout(() => {
      over = true;
      reject(late());
    }, STEP_MS);
    timer.unref();
    work.then(
      (value) => {
        clearTimeout(timer);
        if (over) Promise.resolve(discard?.(value)).catch(() => {});
        else resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
