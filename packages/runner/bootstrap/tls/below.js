// The writing direction of the stream below a TLS socket: encrypted bytes, one write at a time.
// Next: ../internal-bindings/tls_wrap.js.
'use strict';

const { ERRNO } = require('../net/calls.js');

class Below {
  #stream;
  #flushed;
  #broken;
  #queue = [];
  #isWriting = false;
  #isBlocked;
  #isClosed = false;
  /** The number of bytes that the stream has not accepted. */
  waiting = 0;
  /** Whether the stream has had bytes to write. */
  isUsed = false;

  // `flushed()` is called when the stream has accepted all bytes, and `broken(errno)` when a write
  // has failed. A blocked stream still has writes of its earlier owner.
  constructor(stream, isBlocked, flushed, broken) {
    this.#stream = stream;
    this.#isBlocked = isBlocked;
    this.#flushed = flushed;
    this.#broken = broken;
  }
  get isBlocked() {
    return this.#isBlocked;
  }
  get isIdle() {
    return this.#queue.length === 0 && !this.#isWriting;
  }
  // The view belongs to this object from now on.
  push(view) {
    if (this.#isClosed) return;
    this.isUsed = true;
    this.#queue.push(view);
    this.waiting += view.length;
    this.#write();
  }
  unblock() {
    this.#isBlocked = false;
    this.#write();
  }
  close() {
    this.#isClosed = true;
    this.#queue = [];
  }
  shutdown(finish) {
    const status = this.#stream.queueShutdown({ dispatch() {}, finish, handle: this.#stream });
    if (status !== 0) native.enqueueTask(() => finish(status));
  }

  #write() {
    if (this.#isWriting || this.#isBlocked || this.#isClosed) return;
    while (this.#queue.length > 0) {
      const view = this.#queue[0];
      const taken = this.#stream.tryWrite(view);
      if (taken === ERRNO.EAGAIN || (taken >= 0 && taken < view.length)) {
        if (taken > 0) this.#queue[0] = view.subarray(taken);
        this.#writeLater();
        return;
      }
      if (taken < 0) {
        this.#break(taken);
        return;
      }
      this.#queue.shift();
    }
    this.waiting = 0;
    this.#flushed();
  }
  #writeLater() {
    const views = this.#queue.splice(0);
    this.#isWriting = true;
    const finish = (status) => {
      this.#isWriting = false;
      this.waiting = this.#queue.reduce((sum, view) => sum + view.length, 0);
      if (status < 0) this.#break(status);
      else this.#write();
    };
    const status = this.#stream.queueWrite({ dispatch() {}, finish, handle: this.#stream }, views);
    if (status !== 0) native.enqueueTask(() => finish(status));
  }
  #break(status) {
    this.#queue = [];
    this.#broken(status);
  }
}

module.exports = { Below };
