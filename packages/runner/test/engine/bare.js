// The smallest bootstrap, for tests of the engine and the shim without Node's library. The
// parameters are `native` and `buildFile`.
'use strict';
const text = (value) => (typeof value === 'string' ? value : String(value));
let timer;
native.setPrepareStackTrace(undefined, (error) => Error.prototype.toString.call(error));
native.setHooks({
  uncaught(error, fromPromise) {
    native.write(2, `Uncaught ${error !== null && typeof error === 'object' && error.stack ? error.stack : text(error)}\n`);
    return false;
  },
  timers() {
    const due = timer;
    timer = undefined;
    native.loop.timerInfo[0] = 0;
    due?.();
    return 0;
  },
});
globalThis.native = native;
globalThis.print = (...values) => {
  native.write(1, `${values.map(text).join(' ')}\n`);
};
globalThis.console = { log: native.makeLog(1, print, []) };
globalThis.queueMicrotask = native.enqueueMicrotask;
globalThis.setTimeout = (callback, delay) => {
  timer = callback;
  native.loop.timerInfo[0] = 1;
  native.toggleTimerRef(true);
  native.scheduleTimer(delay);
};
globalThis.process = {
  env: native.env(),
  exit: native.exit,
  cwd: native.cwd,
  get argv() {
    return native.argv();
  },
};
globalThis.__return = (value) => native.setReturnValue(JSON.stringify(value));
