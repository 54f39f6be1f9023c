// Delays the close of the stream below a TLS socket. OpenSSL encrypts and decrypts within the call
// that passes the bytes, so in Node a close loses none of these bytes. The session is another
// process, and its results arrive later. Next: ../internal-bindings/tls_wrap.js.
'use strict';

class CloseGuard {
  #stream;
  #close;
  #isSettled;
  #callbacks = [];
  // 'open', 'waiting', 'closing' or 'closed'.
  #state = 'open';

  // `began()` is called when the program closes `stream`. The stream is closed as soon as
  // `isSettled()` is true.
  constructor(stream, began, isSettled) {
    this.#stream = stream;
    this.#close = stream.close;
    this.#isSettled = isSettled;
    stream.close = (callback) => {
      try {
        began();
      } finally {
        // A callback of the program may have thrown.
        if (typeof callback === 'function') this.#callbacks.push(callback);
        if (this.#state === 'open') this.#state = 'waiting';
        this.check();
        if (this.#state === 'closed') this.#closed();
      }
    };
  }
  // Closes the stream if a close waits and the session is settled.
  check() {
    if (this.#state !== 'waiting' || !this.#isSettled()) return;
    this.#state = 'closing';
    Reflect.apply(this.#close, this.#stream, [() => this.#closed()]);
  }
  #closed() {
    this.#state = 'closed';
    for (const callback of this.#callbacks.splice(0)) Reflect.apply(callback, this.#stream, []);
  }
}

module.exports = { CloseGuard };
