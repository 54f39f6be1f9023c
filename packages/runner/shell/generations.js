// The generations of interpreters in a shell that stays alive. After an interrupt, the interpreters
// of the interrupted cell must not continue, although their children end and their timers pass.
// Next: notebook.js.

let present = 0;
let receive;

/** Makes all present interpreters stale: their next statement never ends. */
export function beginGeneration() {
  present++;
}

/** Returns whether an interpreter belongs to an interrupted cell. */
export function isStale(interpreter) {
  interpreter.generation ??= present;
  return interpreter.generation !== present;
}

/** A promise that never settles. */
export const never = () => new Promise(() => {});

/**
 * Returns a new interpreter of a shell. just-bash makes an interpreter for each script, and its
 * `executeScript` passes the interpreter to this file.
 */
export function withInterpreter(bash) {
  let found;
  receive = (interpreter) => {
    found = interpreter;
  };
  bash.exec(':', { rawScript: true });
  return found;
}

/** Passes an interpreter to the call of `withInterpreter`. Returns false without such a call. */
export function received(interpreter) {
  if (receive === undefined) return false;
  receive(interpreter);
  receive = undefined;
  return true;
}
