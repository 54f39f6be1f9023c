// The rules by which callbacks of HTTP/2 run (Node's InternalCallbackScope). One read of a socket
// can cause many callbacks. In Node, ticks and microtasks run after each of these callbacks, and an
// error of a callback is uncaught without ending the read. In a task of the loop, ticks and
// microtasks run once, after the task. During a call of the program, both rules do not apply: the
// error belongs to the call. Next: session.js.
'use strict';

const IN_CALL = 0;
const IN_TASK = 1;
const IN_EVENT = 2;

let scope = IN_CALL;

function within(kind, run) {
  const before = scope;
  scope = kind;
  try {
    return run();
  } finally {
    scope = before;
  }
}

// Runs the work of an event or of a task of the loop.
const inEvent = (run) => within(IN_EVENT, run);
const inTask = (run) => within(IN_TASK, run);

// Calls a function that runs code of the program. Returns the function's result, or undefined
// after an error that was reported as uncaught.
function call(run) {
  const outer = scope;
  if (outer === IN_CALL) return run();
  scope = IN_CALL;
  try {
    return run();
  } catch (error) {
    native.reportUncaught(error, false);
    return undefined;
  } finally {
    if (outer === IN_EVENT) native.runTicks();
    scope = outer;
  }
}

module.exports = { inEvent, inTask, call };
