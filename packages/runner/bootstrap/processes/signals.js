// The signals that this process listens to. The kernel keeps the list and reports the listed
// signals to this file. For other signals the kernel does what Linux does by default, which mostly
// ends the process. One operation serves all signals: the kernel completes the operation with the
// number of the next signal, in a separate turn. Next: ../internal-bindings/signal_wrap.js, which
// calls `listen`; ../internal-bindings/process_methods.js, which calls `send`.
'use strict';

const operations = require('../event-loop/operations.js');
const { NUMBERS, sys } = require('./calls.js');

/** Signal number → listening handles. */
const listeners = new Map();
let waiting = false;

function listen(signal, handle) {
  let handles = listeners.get(signal);
  if (handles === undefined) {
    const status = sys(NUMBERS.listen, signal, 1);
    if (status < 0) return status;
    handles = new Set();
    listeners.set(signal, handles);
    waitForNext();
  }
  handles.add(handle);
  return 0;
}

function forget(signal, handle) {
  const handles = listeners.get(signal);
  if (handles === undefined || !handles.delete(handle) || handles.size > 0) return;
  listeners.delete(signal);
  sys(NUMBERS.listen, signal, 0);
}

// Starts the operation for the next signal. The operation does not keep the event loop alive. The
// handles of signals can keep the event loop alive.
function waitForNext() {
  if (waiting) return;
  const operation = sys(NUMBERS.nextSignal);
  if (operation < 0) return;
  waiting = true;
  operations.expect(operation, deliverNext, false);
}

function deliverNext(signal) {
  waiting = false;
  waitForNext();
  // Each handle runs in its own callback, because a callback may throw.
  for (const handle of listeners.get(signal) ?? []) native.enqueueTask(() => handle.deliver(signal));
}

const send = (pid, signal) => sys(NUMBERS.kill, pid, signal);

module.exports = { listen, forget, send };
