// Ticks, microtasks and the rejection tracker (node_task_queue.cc). `tickInfo` covers the shim's
// memory: the shim's loop reads that memory after each callback and calls Node's tick function only
// if there is work.
'use strict';

const context = require('../context.js');

module.exports = function taskQueue(binding) {
  binding.tickInfo = native.loop.tickInfo;
  binding.setTickCallback = (callback) => {
    context.tickCallback = callback;
  };
  // A JavaScript function of Node's library calls the native, so that a stack does not contain the
  // native. In Node, a stack omits V8's function.
  binding.runMicrotasks = () => native.runMicrotasks();
  binding.enqueueMicrotask = native.enqueueMicrotask;
  // The engine's type numbers (0 rejected without a handler, 1 handler added) equal Node's
  // promiseRejectEvents. The callback is not called while the image is made. Node's function
  // reads `--unhandled-rejections` only at the first rejection, and each process has a mode of
  // its own.
  binding.setPromiseRejectCallback = (callback) => {
    context.trackRejections = () => native.setRejectionTracker(callback);
  };
};
