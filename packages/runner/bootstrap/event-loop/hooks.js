// The functions that the shim calls in a process (NATIVES.md, "The loop"). The functions link and
// start the program, run ticks, completions, timers and immediates, and handle errors, restores and
// the end. There is no `start` hook, because no JavaScript runs when a process starts
// (../start-up/refresh.js). Next: ../modules/linking.js, ../errors/fatal.js, and Node's own
// functions, which this file registers.
'use strict';

const callBinding = require('../app-bindings/call-binding.js');
const context = require('../context.js');
const { link } = require('../modules/linking.js');
const { uncaught } = require('../errors/fatal.js');
const loopClock = require('./loop-clock.js');
const { complete } = require('./operations.js');
const cell = require('../program/cell.js');
const evaluationPlace = require('../program/evaluation-place.js');
const { applyOptions } = require('../program/options.js');
const { restore, restored } = require('../start-up/restore.js');
const { resetModes } = require('../processes/terminals.js');
const { checkUnsettled, main } = require('../program/run-file.js');

const { apply } = Reflect;
const { stringify } = JSON;
const EXITING = 0;
const RESIDENT = 2;

function install() {
  const { process } = context;
  const { emit } = process;
  evaluationPlace.install(process);
  // Events without a listener are not emitted, because most programs listen neither to `beforeExit`
  // nor to `exit`. A package that patches `process.emit` receives every event.
  const hasListener = (event) => process.emit !== emit || process._events[event] !== undefined;
  native.setHooks({
    link,
    options: applyOptions,
    main,
    restore,
    restored,
    evalPlace: evaluationPlace.enter,
    evalDone() {
      cell.end();
      evaluationPlace.leave();
    },
    cell: cell.begin,
    abandon() {
      cell.abandon();
      evaluationPlace.leave();
    },
    // Node's C++ calls these functions as methods of `process`, and stacks show the receiver.
    tick: context.tickCallback.bind(process),
    complete: timed(complete),
    timers: timed((now) => apply(context.processTimers, process, [now])),
    immediates: timed(() => {
      // Unref'd immediates do not run if nothing else keeps the event loop alive. A resident
      // process continues and runs the immediates.
      if (isAlive() || native.mode() === RESIDENT) apply(context.processImmediate, process, []);
      else native.loop.immediateInfo.fill(0);
    }),
    uncaught,
    beforeExit(code) {
      if (hasListener('beforeExit')) process.emit('beforeExit', code);
    },
    exit(code) {
      checkUnsettled();
      native.loop.exitInfo[EXITING] = 1;
      if (hasListener('exit')) process.emit('exit', process.exitCode ?? code);
      resetModes();
    },
  });
  Object.defineProperty(globalThis, '__return', { value: returnValue, writable: true, configurable: true });
  callBinding.install();
}

// Wraps a callback of the loop. The time outside of callbacks counts as idle (loop-clock.js).
function timed(run) {
  return (...args) => {
    loopClock.enter();
    try {
      return run(...args);
    } finally {
      loopClock.leave();
    }
  };
}

const REF_COUNT = 1;
const OUTSTANDING = 2;

function isAlive() {
  const { immediateInfo, keepAlive, timerInfo } = native.loop;
  return immediateInfo[REF_COUNT] > 0 || immediateInfo[OUTSTANDING] > 0 || timerInfo[0] > 0 || keepAlive[0] > 0;
}

// Sets the result of `run()` of a runtime or of a resident runner, as JSON.
function returnValue(value) {
  if (!native.returnsValue()) throw new TypeError('__return() sets the result of run(), which did not start this program');
  const json = stringify(value);
  native.setReturnValue(json === undefined ? 'null' : json);
}

module.exports = { install };
