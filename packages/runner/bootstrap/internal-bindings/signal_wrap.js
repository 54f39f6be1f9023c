// A listener for a signal (signal_wrap.cc). Next: ../processes/signals.js, which receives signals.
'use strict';

const { HandleWrap } = require('../event-loop/async-wrap.js');
const { forget, listen } = require('../processes/signals.js');

module.exports = function signalWrap(binding) {
  binding.Signal = Signal;
};

class Signal extends HandleWrap {
  #signal = 0;

  constructor() {
    super('SIGNALWRAP');
  }
  start(signal) {
    this.stop();
    const result = listen(signal, this);
    if (result < 0) return result;
    this.#signal = signal;
    this.setActive(true);
    return 0;
  }
  stop() {
    if (this.#signal === 0) return 0;
    forget(this.#signal, this);
    this.#signal = 0;
    this.setActive(false);
    return 0;
  }
  // Calls the listener unless the handle was stopped after the signal was sent.
  deliver(signal) {
    if (this.#signal === signal) this.makeCallback(this.onsignal, signal);
  }
  release() {
    this.stop();
  }
}
