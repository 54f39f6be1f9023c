// The handle of a stream (node_http2.cc, `Http2Stream`). DATA frames are the reads of this stream
// of the bindings. A write waits until nghttp2 sends a DATA frame. Next: session.js,
// ../net/stream-base.js.
'use strict';

const { ERRNO } = require('../net/calls.js');
const { StreamBase } = require('../net/stream-base.js');
const { callbacksOf } = require('./answers.js');
const events = require('./events.js');
const { call, inTask } = require('./scopes.js');
const { StreamStatistics } = require('./statistics.js');

const EMPTY_PAYLOAD = 1;
const GET_TRAILERS = 2;
// Node's limit of the headers of a block, in bytes.
const MAX_HEADER_BYTES = 0xff_ffff;
// The result of a shutdown that has finished at once.
const FINISHED = 1;

let binding;

function connect(http2) {
  binding = http2;
}

class Http2Stream extends StreamBase {
  #session;
  #id;
  #statistics;
  #isWritable = true;
  #isReading = false;
  #isDestroyed = false;
  #isRemoved = false;
  #hasTrailers;
  #resetCode = 0;
  #headerBytes = 0;
  #unread = 0;
  // The data to send: the written `view`, the offset of the first unsent byte, and the length. The
  // last view of a write has the `request`.
  #queue = [];
  #queued = 0;
  // The file that is sent through this stream (../fs/stream-pipe.js).
  #pipe;

  constructor(session, id, options) {
    super('HTTP2STREAM', false);
    this.#session = session;
    this.#id = id;
    this.#hasTrailers = (options & GET_TRAILERS) !== 0;
    this.#statistics = new StreamStatistics(id);
    this.maxHeaderBytes = Math.min(session.peerSettings.maxHeaderListBytes(), MAX_HEADER_BYTES);
    if (options & EMPTY_PAYLOAD) this.queueShutdown();
    session.addStream(this);
  }

  id() {
    return this.#id;
  }
  get isDestroyed() {
    return this.#isDestroyed;
  }
  get #transport() {
    return this.#session.transport;
  }
  // Calls a function that Node's library has registered.
  notify(callback, ...args) {
    return call(() => this.makeCallback(callback, ...args));
  }

  attachPipe(pipe) {
    this.#pipe = pipe;
  }

  // Counts the headers against the session's memory while the stream exists.
  keepHeaders(bytes) {
    this.#statistics.header();
    this.#headerBytes += bytes;
    this.#session.memory.add(bytes);
  }

  startReading() {
    if (this.#isDestroyed) return 0;
    this.#transport.scoped(() => {
      this.#isReading = true;
      native.h2Consume(this.#session.state, this.#id, this.#unread);
      this.#unread = 0;
    });
    return 0;
  }
  stopReading() {
    this.#isReading = false;
    return 0;
  }
  // Delivers the data of a frame. The peer may send more when the program reads.
  receive(buffer) {
    const bytes = new Uint8Array(buffer);
    this.#statistics.byte();
    this.#statistics.received += bytes.length;
    call(() => this.emitRead(bytes.length, bytes, true));
    if (this.#isDestroyed) return;
    if (this.#isReading) native.h2Consume(this.#session.state, this.#id, bytes.length);
    else this.#unread += bytes.length;
  }
  receiveEnd() {
    call(() => this.emitRead(ERRNO.EOF, undefined));
  }

  // Writes nothing at once: nghttp2 decides when the data is sent.
  tryWrite() {
    return ERRNO.EAGAIN;
  }
  queueWrite(req, views) {
    if (!this.#isWritable || this.#isDestroyed) return ERRNO.EOF;
    req.dispatch(false);
    this.#transport.scoped(() => {
      for (const [index, view] of views.entries()) {
        const request = index === views.length - 1 ? req : undefined;
        this.#queue.push({ request, view, at: 0, end: view.byteLength });
        this.#countQueued(view.byteLength);
      }
      native.h2Resume(this.#session.state, this.#id);
    });
    return 0;
  }
  #countQueued(bytes) {
    this.#queued += bytes;
    this.#session.memory.add(bytes);
  }
  // Ends the writing side. The result is always FINISHED or an error, so the request is not used.
  queueShutdown() {
    if (this.#isDestroyed) return ERRNO.EPIPE;
    this.#transport.scoped(() => {
      this.#isWritable = false;
      native.h2Resume(this.#session.state, this.#id);
    });
    return FINISHED;
  }

  // Returns how many bytes the next DATA frame has, with flags.
  read(length) {
    this.#statistics.byteSent();
    while (this.#queue.length > 0 && this.#queue[0].end === 0) {
      const { request } = this.#queue.shift();
      if (request !== undefined) call(() => request.finish(0, this, undefined));
    }
    if (this.#queued === 0 && this.#isWritable) {
      this.#pipe?.wantsWrite();
      return events.DEFERRED;
    }
    const bytes = Math.min(this.#queued, length);
    this.#queued -= bytes;
    this.#session.memory.subtract(bytes);
    this.#statistics.sent += bytes;
    return bytes | this.#endFlags();
  }
  #endFlags() {
    if (this.#queued > 0 || this.#isWritable) return 0;
    if (!this.#hasTrailers) return events.READ_ENDED;
    this.#hasTrailers = false;
    this.notify(callbacksOf().trailers);
    return events.READ_ENDED | events.READ_TRAILERS;
  }
  // Adds bytes of the queue to the output.
  send(length) {
    for (let left = length; left > 0; ) {
      const head = this.#queue[0];
      const count = Math.min(left, head.end - head.at);
      native.h2Append(this.#session.state, bytesOf(head, count));
      head.at += count;
      left -= count;
      if (head.at < head.end) return;
      this.#queue.shift();
      if (head.request !== undefined) this.#transport.finishAfterOutput(head.request, this);
    }
  }

  respond(headers, options) {
    if (options & GET_TRAILERS) this.#hasTrailers = true;
    const hasBody = this.#isWritable && (options & EMPTY_PAYLOAD) === 0;
    return this.#session.submit(events.RESPONSE, this.#id, headers, hasBody);
  }
  info(headers) {
    return this.#session.submit(events.INFORMATION, this.#id, headers);
  }
  // Sends trailers. Some browsers reject an empty block of trailers, so an empty DATA frame ends
  // the stream instead.
  trailers(headers) {
    if (headers[1] > 0) return this.#session.submit(events.TRAILERS, this.#id, headers);
    return this.#transport.scoped(() => native.h2End(this.#session.state, this.#id));
  }
  pushPromise(headers, options) {
    return this.#session.open(events.PUSH, this.#id, headers, options);
  }
  // Does nothing, as nghttp2: RFC 9113 has removed the frame's effect.
  priority() {}
  refreshState() {
    binding.streamState.set(native.h2StreamState(this.#session.state, this.#id));
  }

  // Resets the stream. Data that is queued is sent before the reset if that is possible.
  rstStream(code) {
    this.#resetCode = code;
    const transport = this.#transport;
    const isCancel = code === events.CANCEL;
    if (isCancel && (transport.isInScope || (transport.isReceiving && this.#queued === 0))) {
      transport.addPendingReset(this.#id);
    } else if ((transport.isReceiving && this.#queued === 0) || (transport.isInScope && code === events.REFUSED_STREAM)) {
      this.flushReset();
    } else if (transport.send()) {
      transport.addPendingReset(this.#id);
    } else {
      this.flushReset();
    }
  }
  flushReset() {
    this.#transport.removePendingReset(this.#id);
    this.#transport.scoped(() => native.h2Reset(this.#session.state, this.#id, this.#resetCode));
  }

  // Ends the use of the handle. While input is processed, the stream remains until the next round,
  // because nghttp2 may still use the stream.
  destroy() {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    if (this.#transport.isReceiving) native.enqueueTask(() => inTask(() => this.#remove()));
    else this.#remove();
  }
  #remove() {
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    if (this.#transport.hasPendingReset(this.#id)) this.flushReset();
    const { memory, statistics } = this.#session;
    if (this.#session.removeStream(this)) native.enqueueTask(() => inTask(() => this.#cancelWrites()));
    memory.subtract(this.#headerBytes);
    this.#statistics.emit(statistics);
    this.#pipe?.sinkDestroyed();
  }
  #cancelWrites() {
    this.#session.memory.subtract(this.#queued);
    this.#queued = 0;
    for (const { request } of this.#queue.splice(0)) {
      if (request !== undefined) call(() => request.finish(ERRNO.ECANCELED, this, undefined));
    }
    this.emitDestroy();
  }
}

// Returns the next `count` bytes of an entry of the queue. A program may have detached the view's
// buffer since; zeros are sent instead.
function bytesOf({ view, at, end }, count) {
  return view.byteLength === end ? view.subarray(at, at + count) : new Uint8Array(count);
}

module.exports = { Http2Stream, connect };
