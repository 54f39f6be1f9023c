// The key ^C in an interactive shell: drops the commands of the line that the shell runs itself. A
// job in the foreground receives the signal in place of the shell (jobs.js). Next: interpreter.js,
// which calls `checkpoint` before each command.

import { ExecutionLimitError } from 'just-bash';

const TURN_MILLISECONDS = 20;
const INTERRUPTED = 130;

/**
 * Thrown when ^C drops the rest of the line. just-bash passes errors of the base class through
 * loops and subshells.
 */
export class Interrupted extends ExecutionLimitError {
  name = 'Interrupted';
  exitCode = INTERRUPTED;

  constructor() {
    super('interrupted', 'signal');
    this.stderr = '';
  }
}

const waiting = new Set();
let isWatched = false;
let isPending = false;
let lastTurn = 0;

/** Makes SIGINT interrupt the commands of this shell. */
export function watchInterrupts() {
  isWatched = true;
  process.on('SIGINT', () => {
    isPending = waiting.size === 0;
    for (const interrupt of waiting) interrupt();
    waiting.clear();
  });
}

/** Forgets an interrupt that no command has seen. */
export function forgetInterrupt() {
  isPending = false;
}

/** Calls `interrupt` at the next SIGINT. Returns a function that ends the wait. */
export function onInterrupt(interrupt) {
  if (!isWatched) return () => {};
  waiting.add(interrupt);
  return () => waiting.delete(interrupt);
}

/**
 * Throws Interrupted after SIGINT. Lets signals arrive from time to time, also in a busy loop: a
 * timer ends the guest's turn, and signals arrive between two turns.
 */
export async function checkpoint() {
  if (!isWatched) return;
  if (performance.now() - lastTurn > TURN_MILLISECONDS) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    lastTurn = performance.now();
  }
  if (!isPending) return;
  isPending = false;
  throw new Interrupted();
}
