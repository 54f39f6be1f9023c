// Frames that the peer must answer: PING and SETTINGS (node_http2.cc, `Http2Ping`,
// `Http2Settings`). Each frame is an event of async_hooks and completes once. The functions that
// Node's library registers for all sessions are here too. Next: session.js.
'use strict';

const { AsyncWrap } = require('../event-loop/async-wrap.js');
const { call } = require('./scopes.js');

const PING_BYTES = 8;
const NS_PER_MS = 1e6;

let callbacks;

// Stores the functions in the order of `setCallbackFunctions`.
function setCallbacks(error, priority, settings, ping, headers, frameError, goaway, altsvc, origin, trailers, close) {
  callbacks = { error, priority, settings, ping, headers, frameError, goaway, altsvc, origin, trailers, close };
}
const callbacksOf = () => callbacks;

class Answer extends AsyncWrap {
  #callback;
  #session;
  #start = native.clockNs(1);

  constructor(provider, session, callback) {
    super(provider);
    this.#session = session;
    this.#callback = callback;
  }
  get session() {
    return this.#session;
  }
  get start() {
    return this.#start;
  }
  // Calls the callback with the time since the frame was made, in milliseconds.
  finish(isAnswered, ...more) {
    const duration = (native.clockNs(1) - this.#start) / NS_PER_MS;
    call(() => this.makeCallback(this.#callback, isAnswered, duration, ...more));
    this.emitDestroy();
    return duration;
  }
}

class Ping extends Answer {
  constructor(session, callback) {
    super('HTTP2PING', session, callback);
  }
  // Returns a payload for a ping of a program that chose none: the time, as in Node.
  defaultPayload() {
    const payload = new Uint8Array(PING_BYTES);
    new DataView(payload.buffer).setBigUint64(0, BigInt(Math.trunc(this.start)), true);
    return payload;
  }
  finish(isAnswered, payload) {
    const duration = super.finish(isAnswered, payload);
    this.session.statistics.pingRtt = duration * NS_PER_MS;
  }
}

class Settings extends Answer {
  constructor(session, callback) {
    super('HTTP2SETTINGS', session, callback);
  }
}

module.exports = { Ping, Settings, callbacksOf, setCallbacks };
