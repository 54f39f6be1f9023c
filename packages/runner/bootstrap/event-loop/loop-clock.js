// What: when the loop began, and how long it has waited: `performance.eventLoopUtilization()`.
// Why it starts when somebody asks: the loop's callbacks come here on their way (entry.js), and a program that never asks pays for one comparison.
// Next: entry.js, bindings/performance.js.
'use strict';

const NOT_YET = -1;

let began = NOT_YET;
let waited = 0;
let left = NOT_YET;
let counting = false;

// The loop calls JavaScript.
function enter() {
  if (began === NOT_YET) began = native.clockNs(1);
  else if (counting && left !== NOT_YET) waited += native.clockNs(1) - left;
}

// It is back in the loop.
function leave() {
  if (counting) left = native.clockNs(1);
}

// For the image, whose building runs a loop too (refresh.js).
function reset() {
  began = NOT_YET;
  waited = 0;
  left = NOT_YET;
  counting = false;
}

// Node's `loopIdleTime`, in milliseconds, since it was asked for the first time.
function idleMs() {
  counting = true;
  return waited / 1e6;
}

module.exports = { enter, leave, idleMs, reset, loopStart: () => began };
