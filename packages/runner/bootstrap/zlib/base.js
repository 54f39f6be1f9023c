// The parts that all compression streams of Node's library share (node_zlib.cc,
// `CompressionStream`): synchronous and asynchronous writes, and the two numbers of unused bytes.
// Errors are reported to the owner, and a close waits for a pending write. Asynchronous writes are
// tasks of the single thread, in Node's order of callbacks. Next: stream.js (zlib), brotli.js,
// zstd.js.
'use strict';

const { AsyncWrap } = require('../event-loop/async-wrap.js');

const NOTHING = new Uint8Array(0);

// A subclass has `work(flush, input, output, left)`, `problem()`, which returns undefined or
// [message, errno, code], and `end()`.
class CompressionHandle extends AsyncWrap {
  // The numbers of unused bytes of output and of input after the last run. The subclass uses the
  // third element.
  left = new Uint32Array(3);
  #result;
  #callback;
  #writing = false;
  #closePending = false;
  #closed = false;

  constructor() {
    super('ZLIB');
  }

  begin(result, callback) {
    this.#result = result;
    this.#callback = callback;
  }

  write(flush, input, inputOffset, inputLength, output, outputOffset, outputLength) {
    this.#writing = true;
    const run = [flush, part(input, inputOffset, inputLength), part(output, outputOffset, outputLength)];
    native.enqueueTask(() => {
      this.#run(...run);
      this.#writing = false;
      if (this.#check()) {
        this.#report();
        this.makeCallback(this.#callback);
      }
      if (this.#closePending) this.close();
    });
  }

  writeSync(flush, input, inputOffset, inputLength, output, outputOffset, outputLength) {
    this.#run(flush, part(input, inputOffset, inputLength), part(output, outputOffset, outputLength));
    if (this.#check()) this.#report();
  }

  #run(flush, input, output) {
    this.left[0] = output.byteLength;
    this.left[1] = input.byteLength;
    this.work(flush, input, output, new Uint8Array(this.left.buffer));
  }

  #report() {
    this.#result[0] = this.left[0];
    this.#result[1] = this.left[1];
  }

  #check() {
    const problem = this.problem();
    if (problem !== undefined) this.fail(problem);
    return problem === undefined;
  }

  // Reports an error to the owner. The stream cannot be used afterwards.
  fail([message, errno, code]) {
    this.makeCallback(this.onerror, message, errno, code);
    this.#writing = false;
    if (this.#closePending) this.close();
  }

  close() {
    if (this.#closed) return;
    if (this.#writing) {
      this.#closePending = true;
      return;
    }
    this.#closePending = false;
    this.#closed = true;
    this.end();
    this.emitDestroy();
  }
}

const bytesOf = (view) =>
  ArrayBuffer.isView(view) ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength) : new Uint8Array(view);

function part(view, offset, length) {
  if (view === null || view === undefined) return NOTHING;
  return new Uint8Array(view.buffer, view.byteOffset + offset, length);
}

function initializationFailed(message = 'Initialization failed') {
  const error = new Error(message);
  error.code = 'ERR_ZLIB_INITIALIZATION_FAILED';
  return error;
}

module.exports = { CompressionHandle, bytesOf, initializationFailed };
