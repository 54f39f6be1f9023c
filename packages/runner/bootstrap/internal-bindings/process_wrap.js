// The handle of a child process (process_wrap.cc). Next: ../processes/start.js.
'use strict';

const { reasonOf, reportWith } = require('../errors/denials.js');
const { HandleWrap } = require('../event-loop/async-wrap.js');
const operations = require('../event-loop/operations.js');
const { NUMBERS, exitCodeOf, signalOf, sys } = require('../processes/calls.js');
const { signalName } = require('../processes/signal-names.js');
const { start } = require('../processes/start.js');

const ESRCH = -3;
const DETACHED = 1;

class Process extends HandleWrap {
  #pid = 0;
  #onexit;
  #reason;

  constructor() {
    super('PROCESSWRAP');
  }
  // Node's library sets this function, and calls the function in a later tick if no child started.
  get onexit() {
    if (this.#reason === undefined) return this.#onexit;
    return (...args) => reportWith(this.#reason, () => this.#onexit(...args));
  }
  set onexit(callback) {
    this.#onexit = callback;
  }
  spawn(file, args, cwd, env, stdio, flags, uid, gid) {
    const ends = [];
    const pid = start({ file, args, cwd, env, stdio, detached: (flags & DETACHED) !== 0, uid, gid }, ends);
    const reason = reasonOf(pid);
    // The streams receive their ends even if no child was started. The streams have then ended, as
    // in libuv.
    ends.forEach((fd, index) => {
      stdio[index].handle.takePipe(fd);
    });
    if (pid < 0) {
      this.#reason = reason;
      return pid;
    }
    this.#pid = pid;
    this.pid = pid;
    this.setActive(true);
    // The wait outlives the handle, because the kernel frees an ended child only after a wait.
    operations.expect(sys(NUMBERS.wait, pid), (status) => this.#onExit(status), false);
    return 0;
  }
  #onExit(status) {
    this.#pid = 0;
    if (this.isClosing) return;
    this.setActive(false);
    this.makeCallback(this.onexit, exitCodeOf(status), signalName(signalOf(status)));
  }
  kill(signal) {
    return this.#pid === 0 ? ESRCH : sys(NUMBERS.kill, this.#pid, signal);
  }
}

module.exports = function processWrap(binding) {
  binding.Process = Process;
};
