// The HTTP parser as Node's library uses it (node_http_parser.cc). llhttp itself is C in the guest
// (engine/shim/library-llhttp.c). The shim calls back with complete headers and pieces of bodies.
// Next: connections.js, which lists the parsers of a server.
'use strict';

const { AsyncWrap } = require('../event-loop/async-wrap.js');
const context = require('../context.js');

const ON_MESSAGE_BEGIN = 0;
const ON_HEADERS = 1;
const ON_HEADERS_COMPLETE = 2;
const ON_BODY = 3;
const ON_MESSAGE_COMPLETE = 4;
const ON_EXECUTE = 5;

// The shim's events.
const BEGIN = 0;
const HEADERS = 1;
const HEADERS_COMPLETE = 2;
const BODY = 3;

const REQUEST = 1;
const HPE_OK = 0;
const HPE_PAUSED = 21;
const UPGRADE = 2;

class HTTPParser extends AsyncWrap {
  #state = native.httpNew();
  #type = 0;
  #connections;
  #result = new Uint32Array(3);
  #buffer;
  #offset = 0;
  #stream;
  #running = false;
  #pausePending = false;
  #closed = false;
  // The time at which the current message began, in nanoseconds; 0 between messages.
  // `headersCompleted` is true if the message's headers are complete.
  began = 0;
  headersCompleted = false;

  initialize(type, resource, maxHeaderSize, lenientFlags = 0, connections = undefined) {
    this.#connections?.remove(this);
    const max =
      maxHeaderSize > 0 ? maxHeaderSize : context.requireBuiltin('internal/options').getOptionValue('--max-http-header-size');
    if (!native.httpInit(this.#state, type, max, lenientFlags, false)) throw new Error('Too many HTTP parsers');
    this.#type = type;
    this.#connections = connections;
    this.headersCompleted = false;
    this.began = 0;
    this.beginEvent(type === REQUEST ? 'HTTPINCOMINGMESSAGE' : 'HTTPCLIENTREQUEST', resource);
    if (connections !== undefined) {
      // A connection that never sends anything expires by its age since this time.
      this.began = native.clockNs(1);
      connections.add(this);
      connections.activate(this);
    }
  }

  // Parses bytes of `buffer`. Returns the number of parsed bytes, or the error.
  execute(buffer, offset = 0, length = buffer.byteLength - offset) {
    return this.#execute(buffer, offset, length);
  }
  finish() {
    return this.#execute(undefined, 0, 0);
  }

  #execute(buffer, offset, length) {
    const before = this.#buffer;
    const offsetBefore = this.#offset;
    this.#buffer = buffer;
    this.#offset = offset;
    this.#running = true;
    const bytes =
      buffer === undefined || buffer instanceof Uint8Array
        ? buffer
        : new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    try {
      native.httpRun(this.#state, this.#handle, bytes, offset, length, new Uint8Array(this.#result.buffer));
    } finally {
      this.#running = false;
      this.#buffer = before;
      this.#offset = offsetBefore;
      if (this.#pausePending) {
        this.#pausePending = false;
        native.httpPause(this.#state, true);
      }
    }
    const [error, parsed, upgrade] = this.#result;
    if (error !== HPE_OK && !upgrade && error !== HPE_PAUSED) return this.#error(error, parsed);
    return buffer === undefined ? undefined : parsed;
  }

  #error(number, parsed) {
    let [code, reason] = native.httpReason(this.#state, number);
    if (code === 'HPE_USER') [, code, reason] = /^([^:]*):?(.*)$/.exec(reason);
    const error = new Error('Parse Error');
    error.bytesParsed = parsed;
    error.code = code;
    error.reason = reason;
    return error;
  }

  #handle = (event, first, second, third) => {
    switch (event) {
      case BEGIN:
        return this.#begin();
      case HEADERS:
        this.#call(ON_HEADERS, first, '');
        return 0;
      case HEADERS_COMPLETE:
        return this.#headersComplete(first, second, third);
      case BODY:
        this.#call(ON_BODY, this.#piece(first, second));
        return 0;
      default:
        return this.#complete();
    }
  };

  #begin() {
    this.#connections?.deactivate(this);
    this.headersCompleted = false;
    this.began = native.clockNs(1);
    this.#connections?.add(this);
    this.#connections?.activate(this);
    this.#call(ON_MESSAGE_BEGIN);
    return 0;
  }
  #headersComplete(headers, url, statusMessage) {
    this.headersCompleted = true;
    const callback = this[ON_HEADERS_COMPLETE];
    if (typeof callback !== 'function') return 0;
    const [major, minor, method, status, upgrade, keepAlive] = native.httpFacts(this.#state);
    const isRequest = this.#type === REQUEST;
    const result = this.makeCallback(
      callback,
      major,
      minor,
      headers,
      isRequest ? method : undefined,
      isRequest ? url : undefined,
      isRequest ? undefined : status,
      isRequest ? undefined : statusMessage,
      upgrade !== 0,
      keepAlive !== 0,
    );
    return result === UPGRADE || result === 1 ? result : 0;
  }
  #complete() {
    this.#connections?.deactivate(this);
    this.began = 0;
    this.#connections?.add(this);
    this.#call(ON_MESSAGE_COMPLETE);
    return 0;
  }
  #call(which, ...args) {
    const callback = this[which];
    if (typeof callback === 'function') this.makeCallback(callback, ...args);
  }
  // Returns a Buffer over the input if the input is the program's own. The read buffer of a stream
  // is reused, so pieces of a stream are copied.
  #piece(offset, length) {
    const { Buffer } = context.requireBuiltin('buffer');
    const { buffer, byteOffset } = this.#buffer;
    const piece = Buffer.from(buffer, byteOffset + this.#offset + offset, length);
    return this.#stream === undefined ? piece : Buffer.from(piece);
  }

  pause() {
    if (this.#running) this.#pausePending = true;
    else native.httpPause(this.#state, true);
  }
  resume() {
    this.#pausePending = false;
    native.httpPause(this.#state, false);
  }

  // Receives the reads of a stream's handle, so that bytes reach the parser without passing through
  // Node's stream.
  consume(stream) {
    this.#stream = stream;
    stream.setReadListener((count, bytes) => this.#read(count, bytes));
  }
  unconsume() {
    this.#stream?.setReadListener(undefined);
    this.#stream = undefined;
  }
  #read(count, bytes) {
    if (count === 0) return;
    const stream = this.#stream;
    if (count < 0) {
      // The stream's own listener receives the stream's end or error.
      stream.setReadListener(undefined);
      stream.emitRead(count, undefined);
      if (this.#stream !== undefined) stream.setReadListener((n, more) => this.#read(n, more));
      return;
    }
    const result = this.#execute(bytes, 0, count);
    // The program may read this buffer after an error or an upgrade.
    this.#buffer = bytes.subarray(0, count);
    this.#call(ON_EXECUTE, result, undefined);
    this.#buffer = undefined;
  }
  getCurrentBuffer() {
    if (this.#buffer === undefined) return undefined;
    return context.requireBuiltin('buffer').Buffer.from(this.#buffer);
  }

  // Returns the milliseconds since the current message began.
  duration() {
    return this.began === 0 ? 0 : (native.clockNs(1) - this.began) / 1e6;
  }
  remove() {
    this.#connections?.remove(this);
    this.#connections = undefined;
  }
  free() {
    this.emitDestroy();
  }
  close() {
    if (this.#closed) return;
    this.#closed = true;
    this.unconsume();
    this.remove();
  }
}

module.exports = { HTTPParser };
