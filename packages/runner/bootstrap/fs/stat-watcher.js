// `fs.watchFile` (node_stat_watcher.cc, libuv's uv_fs_poll): a timer that reads the file's `stat`
// and reports differences. `watchFile` polls by definition, although the kernel has events: the
// caller chooses the interval, and a missing file can be watched.
'use strict';

const { HandleWrap } = require('../event-loop/async-wrap.js');
const context = require('../context.js');
const { NUMBERS, sys } = require('./calls.js');

const FIELDS = 18;
// The indexes of the compared fields: device, mode, links, owner, group, inode, size, and all times
// except the access time.
const COMPARED = [0, 1, 2, 3, 4, 7, 8, 12, 13, 14, 15, 16, 17];

module.exports = function installStatWatcher(binding) {
  binding.StatWatcher = class StatWatcher extends HandleWrap {
    #bigint;
    #path;
    #timer;
    #last;
    #status = 0;

    constructor(bigint) {
      super('STATWATCHER');
      this.#bigint = bigint;
    }
    start(path, interval) {
      this.#path = path;
      this.#last = undefined;
      this.#poll();
      this.#timer = context.requireBuiltin('timers').setInterval(() => this.#poll(), interval || 1);
      if (!this.hasRef()) this.#timer.unref();
      return 0;
    }
    ref() {
      super.ref();
      this.#timer?.ref();
    }
    unref() {
      super.unref();
      this.#timer?.unref();
    }
    release() {
      context.requireBuiltin('timers').clearInterval(this.#timer);
    }

    #poll() {
      const now = new Float64Array(FIELDS);
      const status = sys(NUMBERS.stat, this.#path, now, 1);
      if (status < 0) now.fill(0);
      const before = this.#last;
      this.#last = now;
      const changed = before === undefined ? status < 0 : status !== this.#status || COMPARED.some((i) => before[i] !== now[i]);
      this.#status = status;
      if (!changed) return;
      const both = new Float64Array(FIELDS * 2);
      both.set(now);
      both.set(before ?? now, FIELDS);
      const values = this.#bigint ? BigInt64Array.from(both, BigInt) : both;
      native.enqueueTask(() => {
        if (!this.closing) this.makeCallback(this.onchange, status, values);
      });
    }
  };
};
