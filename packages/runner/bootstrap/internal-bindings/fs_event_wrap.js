// `fs.watch` (fs_event_wrap.cc). The kernel reports changes below a path as completions of
// successive operations. The payload of a completion has entries back to back: `u8 kind` (1 rename,
// 2 change), `u8 0`, `u16 length`, the name.
'use strict';

const { HandleWrap } = require('../event-loop/async-wrap.js');
const operations = require('../event-loop/operations.js');
const { NUMBERS, sys } = require('../fs/calls.js');
const { inEncoding } = require('../fs/names.js');

const RECURSIVE = 1;
const RENAME = 1;
const HEADER = 4;

module.exports = function fsEventWrap(binding) {
  binding.FSEvent = class FSEvent extends HandleWrap {
    #started = false;
    #operation = 0;
    #path;
    #flags = 0;
    #encoding;

    constructor() {
      super('FSEVENTWRAP');
    }
    get initialized() {
      return this.#started && !this.closing;
    }
    start(path, persistent, recursive, encoding) {
      this.#path = path;
      this.#flags = recursive ? RECURSIVE : 0;
      this.#encoding = encoding;
      if (!persistent) this.unref();
      const result = this.#arm();
      this.#started = result >= 0;
      this.setActive(this.#started);
      return Math.min(result, 0);
    }
    release() {
      if (this.#operation === 0) return;
      sys(NUMBERS.unwatch, this.#operation);
      operations.forget(this.#operation);
      this.#operation = 0;
    }

    #arm() {
      const result = sys(NUMBERS.watch, this.#path, this.#flags);
      this.#operation = Math.max(result, 0);
      // The handle keeps the event loop alive, and the operation does not.
      if (result > 0) operations.expect(result, (status, bytes) => this.#complete(status, bytes), false);
      return result;
    }
    #complete(status, bytes) {
      const completed = this.#operation;
      if (this.#arm() < 0) {
        // The path cannot be watched again, usually because it was removed. These changes are the
        // last, and the handle no longer keeps the event loop alive.
        sys(NUMBERS.unwatch, completed);
        this.setActive(false);
      }
      if (status < 0) {
        this.makeCallback(this.onchange, status, '', null);
        return;
      }
      for (let at = 0; bytes !== undefined && at < bytes.byteLength && !this.closing; ) {
        const length = bytes[at + 2] | (bytes[at + 3] << 8);
        const name = inEncoding(bytes.subarray(at + HEADER, at + HEADER + length), this.#encoding);
        this.makeCallback(this.onchange, 0, bytes[at] === RENAME ? 'rename' : 'change', name);
        at += HEADER + length;
      }
    }
  };
};
