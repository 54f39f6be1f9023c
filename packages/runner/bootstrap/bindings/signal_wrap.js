// What: signals to the process (signal_wrap.cc). Nothing sends any yet; a program may still say what it would do with one, as many do at their start.
// Next: bindings/process_methods.js for `process.kill`.
'use strict';

module.exports = function signalWrap(binding) {
  binding.Signal = class Signal {
    unref() {}
    ref() {}
    hasRef() {
      return false;
    }
    getAsyncId() {
      return 0;
    }
    start() {
      return 0;
    }
    stop() {
      return 0;
    }
    close() {}
  };
};
