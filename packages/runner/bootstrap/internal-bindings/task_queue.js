// What: ticks, microtasks and the rejection tracker (node_task_queue.cc). `tickInfo` lies over the shim's memory: its loop looks there
// after each callback and calls Node's tick function only when there is something to do.
'use strict';

const context = require('../context.js');

module.exports = function taskQueue(binding) {
  binding.tickInfo = native.loop.tickInfo;
  binding.setTickCallback = (callback) => {
    context.tickCallback = callback;
  };
  // A function of this file and not the native: no stack shows it, as none shows V8's.
  binding.runMicrotasks = () => native.runMicrotasks();
  binding.enqueueMicrotask = native.enqueueMicrotask;
  // The engine's type numbers (0 rejected without a handler, 1 handler added) are those of Node's promiseRejectEvents.
  // It is told of nothing while the image is made: at its first rejection Node's function decides for good what an unhandled one does
  // (`--unhandled-rejections`), and each process has a mode of its own.
  binding.setPromiseRejectCallback = (callback) => {
    context.trackRejections = () => native.setRejectionTracker(callback);
  };
};
