// The writes of a program to a TLS socket, in the order of their states. Next:
// ../internal-bindings/tls_wrap.js.
'use strict';

class PlainWrites {
  // Writes that wait for the handshake or for the stream below.
  #waiting = [];
  // Writes whose bytes the session encrypts.
  #encrypting = [];
  // Writes whose encrypted bytes wait for the stream below.
  #flushing = [];

  get isEmpty() {
    return this.#waiting.length + this.#encrypting.length + this.#flushing.length === 0;
  }
  get hasWaiting() {
    return this.#waiting.length > 0;
  }
  get isEncrypting() {
    return this.#encrypting.length > 0;
  }
  /** The number of bytes that the session has not encrypted. */
  get encryptingBytes() {
    return this.#encrypting.reduce((sum, { left }) => sum + left, 0);
  }
  push(req, views) {
    this.#waiting.push({ req, views, left: views.reduce((sum, view) => sum + view.length, 0) });
  }
  // Passes the first waiting write to the session. Returns the number of its bytes.
  encryptNext(session) {
    const write = this.#waiting.shift();
    this.#encrypting.push(write);
    for (const view of write.views) session.plain(view);
    write.views = undefined;
    return write.left;
  }
  // The session has encrypted `count` more bytes.
  encrypted(count) {
    let rest = count;
    while (this.#encrypting.length > 0) {
      const [write] = this.#encrypting;
      const part = Math.min(rest, write.left);
      write.left -= part;
      rest -= part;
      if (write.left > 0) return;
      this.#flushing.push(this.#encrypting.shift());
    }
  }
  // Removes the writes whose encrypted bytes are written, and returns their requests.
  takeFlushed() {
    return this.#flushing.splice(0).map(({ req }) => req);
  }
  // Removes all writes, and returns their requests.
  takeAll() {
    return [...this.takeFlushed(), ...[...this.#encrypting.splice(0), ...this.#waiting.splice(0)].map(({ req }) => req)];
  }
}

module.exports = { PlainWrites };
