// Measures when the loop began and how long it has waited, for
// `performance.eventLoopUtilization()`. Waits are measured from the first read on. Every callback
// of the loop calls this file (hooks.js). If the program never reads the clock, only the first call
// reads the time. Next: hooks.js, ../internal-bindings/performance.js.
'use strict';

const NOT_YET = -1;

let began = NOT_YET;
let waited = 0;
let left = NOT_YET;
let counting = false;

// Records that the loop calls JavaScript: the wait is over.
function enter() {
  if (began === NOT_YET) began = native.clockNs(1);
  else if (counting && left !== NOT_YET) waited += native.clockNs(1) - left;
}

// Records that the callback has returned: a wait begins.
function leave() {
  if (counting) left = native.clockNs(1);
}

// Resets the clock for the image, whose build runs a loop too (../start-up/refresh.js).
function reset() {
  began = NOT_YET;
  waited = 0;
  left = NOT_YET;
  counting = false;
}

// Returns Node's `loopIdleTime` in milliseconds since the first read.
function idleMs() {
  counting = true;
  return waited / 1e6;
}

module.exports = { enter, leave, idleMs, reset, loopStart: () => began };
