// Keeps Node's event loop alive while this process waits for an event that no active handle of Node
// represents. One timer serves all holders.

const FOREVER_MS = 2_147_483_647;

const holders = new Set<object>();
let timer: NodeJS.Timeout | undefined;

/** Keeps the event loop alive until `releaseEventLoop(holder)`. */
export function holdEventLoop(holder: object): void {
  holders.add(holder);
  timer ??= setInterval(() => {}, FOREVER_MS);
}

/** Ends the effect of `holdEventLoop(holder)`. Does nothing without such a call. */
export function releaseEventLoop(holder: object): void {
  if (!holders.delete(holder) || holders.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}
