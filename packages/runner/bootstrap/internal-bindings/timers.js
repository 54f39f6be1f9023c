// The single timer and the counters of immediates (timers.cc). Node's JavaScript keeps the lists of
// timers. The shim stores the time at which the next timer is due.
'use strict';

const context = require('../context.js');

module.exports = function timers(binding) {
  binding.immediateInfo = native.loop.immediateInfo;
  binding.timeoutInfo = native.loop.timerInfo;
  binding.setupTimers = (processImmediate, processTimers) => {
    context.processImmediate = processImmediate;
    context.processTimers = processTimers;
  };
  binding.getLibuvNow = native.now;
  binding.scheduleTimer = native.scheduleTimer;
  binding.toggleTimerRef = native.toggleTimerRef;
  binding.toggleImmediateRef = native.toggleImmediateRef;
};
