// A stream of the bindings whose other side is JavaScript (js_stream.cc). Node wraps a program's
// own Duplex in such a stream where a socket is expected. Next: ../net/stream-base.js.
'use strict';

const { ERRNO } = require('../net/calls.js');
const { StreamBase } = require('../net/stream-base.js');

class JSStream extends StreamBase {
  constructor() {
    super('JSSTREAM', false);
  }
  /** Whether a stream of the program is below, which a close of this stream destroys. */
  get isOfProgram() {
    return true;
  }
  startReading() {
    return this.#ask('onreadstart');
  }
  stopReading() {
    return this.#ask('onreadstop');
  }
  // Writes nothing at once. The program's stream does every write, reports the result later, and
  // decides whether the event loop stays alive.
  tryWrite() {
    return ERRNO.EAGAIN;
  }
  queueWrite(req, views) {
    req.dispatch(false);
    const buffers = views.map((view) => Buffer.from(view.buffer, view.byteOffset, view.byteLength));
    const status = this.#ask('onwrite', req, buffers);
    if (status !== 0) req.finish(status, this, undefined);
    return status;
  }
  queueShutdown(req) {
    req.dispatch(false);
    return this.#ask('onshutdown', req);
  }
  // Calls a function of the program's stream. Returns the function's status, or `EPROTO` if the
  // function is missing.
  #ask(name, ...args) {
    const callback = this[name];
    return typeof callback === 'function' ? this.makeCallback(callback, ...args) | 0 : ERRNO.EPROTO;
  }
  finishWrite(req, status) {
    req.finish(status, this, undefined);
  }
  finishShutdown(req, status) {
    req.finish(status, this, undefined);
  }
  readBuffer(chunk) {
    const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const { userBuffer } = this;
    if (userBuffer === undefined || bytes.length === 0) {
      this.emitRead(bytes.length, bytes);
      return;
    }
    // Bytes that do not fit into the program's buffer are delivered in several reads.
    for (let at = 0; at < bytes.length; ) {
      const into = this.userBuffer;
      const piece = bytes.subarray(at, at + into.byteLength);
      new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(piece);
      this.emitRead(piece.length, into);
      at += piece.length;
    }
  }
  emitEOF() {
    this.emitRead(ERRNO.EOF, undefined);
  }
}

module.exports = function jsStream(binding) {
  binding.JSStream = JSStream;
};
