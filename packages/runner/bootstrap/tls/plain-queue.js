// Plain bytes for a program, which wait while the program does not read. An attached session reads
// nothing while too many bytes wait. Next: session.js.
'use strict';

// The number of waiting bytes from which on an attached session reads nothing.
const MAX_WAITING = 64 << 10;

class PlainQueue {
  #views = [];
  #bytes = 0;
  #isPaused = false;
  #stream;
  /** Whether the program reads. Node's library starts no reading if the stream below is reading. */
  isReading = true;

  // `stream` receives the bytes.
  constructor(stream) {
    this.#stream = stream;
  }

  get isEmpty() {
    return this.#views.length === 0;
  }
  // Delivers bytes of the session, or appends the bytes.
  receive(view, session) {
    if (this.isReading && this.isEmpty) {
      this.#deliver(view);
      return;
    }
    this.#views.push(view);
    this.#bytes += view.length;
    if (session?.isAttached !== true || this.#isPaused || this.#bytes < MAX_WAITING) return;
    this.#isPaused = true;
    session.pause();
  }
  // Delivers the waiting bytes. Lets the session read again if no bytes wait.
  deliverWaiting(session) {
    while (this.isReading && !this.isEmpty) {
      const view = this.#views.shift();
      this.#bytes -= view.length;
      this.#deliver(view);
    }
    if (!this.#isPaused || !this.isEmpty) return;
    this.#isPaused = false;
    session?.resume();
  }
  #deliver(view) {
    let rest = view;
    while (rest.length > 0) {
      if (!this.isReading) {
        this.#views.unshift(rest);
        this.#bytes += rest.length;
        return;
      }
      const into = this.#stream.userBuffer;
      if (into === undefined) {
        this.#stream.emitRead(rest.length, rest);
        return;
      }
      const piece = rest.subarray(0, into.byteLength);
      new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(piece);
      rest = rest.subarray(piece.length);
      this.#stream.emitRead(piece.length, into);
    }
  }
  clear() {
    this.#views = [];
    this.#bytes = 0;
  }
}

module.exports = { PlainQueue };
