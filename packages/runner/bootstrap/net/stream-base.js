// The protocol between a stream of a binding and Node's library (stream_base.cc): how reads are
// delivered, and how writes report completion. A subclass has `startReading`, `stopReading`,
// `tryWrite(view)` (bytes taken, or a negative errno), `queueWrite(req, views)`,
// `queueShutdown(req)`. The state array passes several results of a call (bytes, whether the write
// continues) to JavaScript without an object per call. Next: socket-stream.js.
'use strict';

const { External } = require('../engine-gaps/external.js');
const { HandleWrap } = require('../event-loop/async-wrap.js');
const context = require('../context.js');
const { ERRNO } = require('./calls.js');

const READ_BYTES_OR_ERROR = 0;
const ARRAY_BUFFER_OFFSET = 1;
const BYTES_WRITTEN = 2;
const LAST_WRITE_WAS_ASYNC = 3;
const streamBaseState = new Int32Array(5);

const { encodings } = native;
const ENCODING_NAMES = {
  __proto__: null,
  utf8: encodings.utf8,
  'utf-8': encodings.utf8,
  latin1: encodings.latin1,
  binary: encodings.latin1,
  ascii: encodings.latin1,
  ucs2: encodings.utf16le,
  'ucs-2': encodings.utf16le,
  utf16le: encodings.utf16le,
  'utf-16le': encodings.utf16le,
  hex: encodings.hex,
  base64: encodings.base64,
  base64url: encodings.base64url,
};

const encode = (text, encoding) => new Uint8Array(native.encode(text, encoding));
const viewOf = (chunk) =>
  chunk instanceof Uint8Array ? chunk : new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);

class StreamBase extends HandleWrap {
  #userBuffer;
  #listener;
  #external;
  bytesRead = 0;
  bytesWritten = 0;

  get isStreamBase() {
    return true;
  }
  get fd() {
    return -1;
  }
  get _externalStream() {
    this.#external ??= new External();
    return this.#external;
  }

  // Sets a function of the bindings that receives the reads instead of `onread`: `listener(nread,
  // view)`. undefined restores `onread`.
  setReadListener(listener) {
    this.#listener = listener;
  }
  useUserBuffer(buffer) {
    this.#userBuffer = buffer;
    return 0;
  }
  // Returns the program's buffer for the next read. Returns undefined without such a buffer, and
  // while a read listener is set.
  get userBuffer() {
    return this.#listener === undefined ? this.#userBuffer : undefined;
  }

  // Delivers `count` bytes, in `bytes` (a view that is reused) or in the user's buffer, or a
  // negative errno. If `isOwn` is true, `bytes` covers its whole buffer, which the receiver keeps.
  emitRead(count, bytes, isOwn = false) {
    if (count > 0) this.bytesRead += count;
    if (this.#listener !== undefined) {
      this.#listener(count, bytes);
      return;
    }
    const { onread } = this;
    if (typeof onread !== 'function') return;
    this.makeCallback(() => {
      streamBaseState[READ_BYTES_OR_ERROR] = count;
      streamBaseState[ARRAY_BUFFER_OFFSET] = 0;
      if (count <= 0 || this.#userBuffer !== undefined) {
        const next = this.onread(undefined);
        if (next !== undefined && this.#userBuffer !== undefined) this.#userBuffer = next;
        return;
      }
      this.onread(isOwn ? bytes.buffer : bytes.slice(0, count).buffer);
    });
  }

  readStart() {
    return this.startReading();
  }
  readStop() {
    return this.stopReading();
  }
  shutdown(req) {
    req.handle = this;
    return this.queueShutdown(req);
  }

  writeBuffer(req, buffer) {
    if (!ArrayBuffer.isView(buffer)) {
      const { ERR_INVALID_ARG_TYPE } = context.requireBuiltin('internal/errors').codes;
      throw new ERR_INVALID_ARG_TYPE.HideStackFramesError('Second argument must be a buffer');
    }
    return this.#write(req, [viewOf(buffer)]);
  }
  writev(req, chunks, allBuffers) {
    const views = [];
    if (allBuffers) for (const chunk of chunks) views.push(viewOf(chunk));
    else {
      for (let i = 0; i < chunks.length; i += 2) {
        const chunk = chunks[i];
        views.push(typeof chunk === 'string' ? encode(chunk, ENCODING_NAMES[chunks[i + 1]] ?? encodings.utf8) : viewOf(chunk));
      }
    }
    return this.#write(req, views);
  }
  writeUtf8String(req, text) {
    return this.#write(req, [encode(text, encodings.utf8)]);
  }
  writeAsciiString(req, text) {
    return this.#write(req, [encode(text, encodings.latin1)]);
  }
  writeLatin1String(req, text) {
    return this.#write(req, [encode(text, encodings.latin1)]);
  }
  writeUcs2String(req, text) {
    return this.#write(req, [encode(text, encodings.utf16le)]);
  }

  // Writes as much as possible at once. The request carries the rest and completes when the rest is
  // written.
  #write(req, views) {
    let total = 0;
    for (const view of views) total += view.byteLength;
    this.bytesWritten += total;
    streamBaseState[BYTES_WRITTEN] = total;
    streamBaseState[LAST_WRITE_WAS_ASYNC] = 0;
    let first = 0;
    while (first < views.length) {
      const taken = this.tryWrite(views[first]);
      if (taken === ERRNO.EAGAIN) break;
      if (taken < 0) return taken;
      if (taken < views[first].byteLength) {
        views[first] = views[first].subarray(taken);
        break;
      }
      first++;
    }
    if (first === views.length) return 0;
    const status = this.queueWrite(req, first === 0 ? views : views.slice(first));
    if (status === 0) streamBaseState[LAST_WRITE_WAS_ASYNC] = 1;
    return status;
  }
}

module.exports = { StreamBase, streamBaseState };
