// What: what the shim calls in a process: the program's links, ticks, timers, immediates, errors and the end (NATIVES.md, "The loop").
// Why there is no `start` hook: nothing runs when a process starts (refresh.js).
// Next: modules.js, fatal.js, and Node's own functions that are registered here as they are.
'use strict';

const callBinding = require('../app-bindings/call-binding.js');
const context = require('../context.js');
const { link } = require('../modules/linking.js');
const { uncaught } = require('../errors/fatal.js');
const loopClock = require('./loop-clock.js');
const { complete } = require('./operations.js');
const { applyOptions } = require('../program/options.js');
const { restore } = require('../start-up/restore.js');
const { checkUnsettled, main } = require('../program/run-file.js');

const { apply } = Reflect;
const { stringify } = JSON;
const EXITING = 0;
const RUN = 1;
const RESIDENT = 2;

function install() {
  const { process } = context;
  const { emit } = process;
  // Most programs listen to neither event; packages that patch `process.emit` see both.
  const heard = (event) => process.emit !== emit || process._events[event] !== undefined;
  native.setHooks({
    link,
    options: applyOptions,
    main,
    restore,
    // Node's C++ calls these as methods of `process`: stacks say so.
    tick: context.tickCallback.bind(process),
    complete: timed(complete),
    timers: timed((now) => apply(context.processTimers, process, [now])),
    immediates: timed(() => {
      // Immediates that hold nothing are left behind when nothing else holds the loop. A resident process goes on, and runs them.
      if (isAlive() || native.mode() === RESIDENT) apply(context.processImmediate, process, []);
      else native.loop.immediateInfo.fill(0);
    }),
    uncaught,
    beforeExit(code) {
      if (heard('beforeExit')) process.emit('beforeExit', code);
    },
    exit(code) {
      checkUnsettled();
      native.loop.exitInfo[EXITING] = 1;
      if (heard('exit')) process.emit('exit', process.exitCode ?? code);
    },
  });
  Object.defineProperty(globalThis, '__return', { value: returnValue, writable: true, configurable: true });
  callBinding.install();
}

// A callback of the loop, whose time outside of it counts as idle (loop-clock.js).
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

// `NodeRuntime.run`: the value for the caller, as JSON.
function returnValue(value) {
  if (native.mode() !== RUN)
    throw new TypeError('__return() gives a value to NodeRuntime.run(); this program was not started by it');
  const json = stringify(value);
  native.setReturnValue(json === undefined ? 'null' : json);
}

module.exports = { install };
