// The handle of a session (node_http2.cc, `Http2Session`): nghttp2's session with the streams, the
// unanswered pings and settings, and the limits of the program. Next: transport.js for bytes,
// frames.js for events, stream.js, settings.js.
'use strict';

const { AsyncWrap } = require('../event-loop/async-wrap.js');
const events = require('./events.js');
const { frameHandler } = require('./frames.js');
const { SessionMemory } = require('./memory.js');
const { Ping, Settings, callbacksOf } = require('./answers.js');
const { SessionSettings } = require('./settings.js');
const { SessionStatistics } = require('./statistics.js');
const { call, inTask } = require('./scopes.js');
const { Http2Stream } = require('./stream.js');
const { Transport } = require('./transport.js');

const SERVER = 0;
const EMPTY_PAYLOAD = 1;

// Node's array of options, whose order engine/shim/library-nghttp2.c repeats.
const OPTION_HEADER_PAIRS = 5;
const OPTION_PINGS = 6;
const OPTION_SETTINGS = 7;
const OPTION_MEMORY = 8;
const OPTION_FLAGS = 13;

// Node's defaults and bounds.
const DEFAULT_HEADER_PAIRS = 128;
const MIN_SERVER_HEADER_PAIRS = 4;
const MIN_CLIENT_HEADER_PAIRS = 1;
const DEFAULT_PINGS = 10;
const DEFAULT_SETTINGS = 10;
const DEFAULT_MEMORY_BYTES = 10_000_000;
const MEMORY_UNIT_BYTES = 1_000_000;
const DEFAULT_INVALID_FRAMES = 1000;
const DEFAULT_REJECTED_STREAMS = 100;

// The array `fields`, which Node's library shares with the handle: bits, counters of listeners, and
// two limits of 32 bits.
const BITS = 0;
const PRIORITY_LISTENERS = 1;
const LIMITS_OFFSET = 4;
const FIELD_BYTES = 12;

// The bytes that count against a session's memory for a stream, and for a ping or settings. The
// numbers are estimates: Node counts the sizes of its C++ objects.
const STREAM_BYTES = 640;
const ANSWER_BYTES = 128;

let binding;

function connect(http2) {
  binding = http2;
}

function optionsOf(values) {
  const set = values[OPTION_FLAGS];
  return (index, otherwise) => (set & (1 << index) ? values[index] : otherwise);
}

const latin1 = (text) => new Uint8Array(native.encode(text, native.encodings.latin1));

class Http2Session extends AsyncWrap {
  #isServer;
  #transport;
  #settings;
  #pings = [];
  #unanswered = [];
  #maxPings;
  #maxSettings;
  #isGraceful = false;
  #hasSentGoaway = false;
  #limits;
  streams = new Map();
  rejectedStreams = 0;
  invalidFrames = 0;

  constructor(type) {
    super('HTTP2SESSION');
    const option = optionsOf(binding.optionsBuffer);
    this.#isServer = type === SERVER;
    const pairs = Math.max(
      option(OPTION_HEADER_PAIRS, DEFAULT_HEADER_PAIRS),
      this.#isServer ? MIN_SERVER_HEADER_PAIRS : MIN_CLIENT_HEADER_PAIRS,
    );
    const memory = option(OPTION_MEMORY, 0) * MEMORY_UNIT_BYTES || DEFAULT_MEMORY_BYTES;
    this.#maxPings = option(OPTION_PINGS, DEFAULT_PINGS);
    this.#maxSettings = option(OPTION_SETTINGS, DEFAULT_SETTINGS);
    const state = native.h2New(this.#isServer, new Uint8Array(binding.optionsBuffer.buffer), pairs);
    this.fields = new Uint8Array(FIELD_BYTES);
    this.#limits = new Uint32Array(this.fields.buffer, LIMITS_OFFSET, 2);
    this.#limits.set([DEFAULT_INVALID_FRAMES, DEFAULT_REJECTED_STREAMS]);
    this.state = state;
    this.memory = new SessionMemory(memory);
    this.statistics = new SessionStatistics(this.#isServer ? 'server' : 'client');
    this.#settings = new SessionSettings(state, binding.settingsBuffer);
    this.#transport = new Transport(this, state, frameHandler(this));
  }

  get transport() {
    return this.#transport;
  }
  get maxInvalidFrames() {
    return this.#limits[0];
  }
  get maxRejectedStreams() {
    return this.#limits[1];
  }
  get hasPriorityListeners() {
    return this.fields[PRIORITY_LISTENERS] > 0;
  }
  hasListeners(bit) {
    return (this.fields[BITS] & (1 << bit)) !== 0;
  }
  clearBit(bit) {
    this.fields[BITS] &= ~(1 << bit);
  }
  get hasSentGoaway() {
    return this.#hasSentGoaway || this.#isGraceful;
  }
  get peerSettings() {
    return this.#settings;
  }

  // Calls a function that Node's library has registered.
  notify(callback, ...args) {
    return call(() => this.makeCallback(callback, ...args));
  }
  notifyError(...args) {
    this.notify(callbacksOf().error, ...args);
  }
  notifyDone() {
    if (typeof this.ondone === 'function') this.notify(this.ondone);
  }
  notifyGracefulClose() {
    if (!this.#isGraceful || this.hasPendingData()) return;
    if (typeof this.ongracefulclosecomplete === 'function') this.notify(this.ongracefulclosecomplete);
  }

  consume(stream) {
    this.#transport.consume(stream);
  }
  receive(view) {
    this.#transport.receive(new Uint8Array(view.buffer, view.byteOffset, view.byteLength), view.byteLength);
  }
  destroy(code, isSocketClosed) {
    this.#transport.close(code, isSocketClosed === true);
  }
  // The unacknowledged pings fail in the loop's next round.
  afterClose() {
    for (const ping of this.#pings.splice(0)) {
      this.memory.subtract(ANSWER_BYTES);
      native.enqueueTask(() => inTask(() => ping.finish(false)));
    }
    this.statistics.emit(this);
  }
  hasPendingData() {
    return native.h2WantsWrite(this.state) || native.h2WantsRead(this.state);
  }
  setGracefulClose() {
    this.#isGraceful = true;
  }
  updateChunksSent() {
    this.chunksSentSinceLastWrite = this.#transport.chunksSent;
    return this.chunksSentSinceLastWrite;
  }

  // Returns whether the limits of streams and of memory allow another stream.
  canAddStream() {
    return this.streams.size < this.#settings.maxConcurrentStreams() && this.memory.left >= STREAM_BYTES;
  }
  addStream(stream) {
    this.streams.set(stream.id(), stream);
    this.statistics.countStream(this.streams.size);
    this.memory.add(STREAM_BYTES);
  }
  // Returns whether the stream was present.
  removeStream(stream) {
    if (this.streams.get(stream.id()) !== stream) return false;
    this.streams.delete(stream.id());
    this.memory.subtract(STREAM_BYTES);
    return true;
  }
  // Sends headers: `[text, count]`, as Node's library encodes headers. Returns nghttp2's result.
  submit(kind, id, headers, hasBody = false) {
    return this.#transport.scoped(() => native.h2Submit(this.state, kind, id, latin1(headers[0]), headers[1], hasBody));
  }
  // Sends headers that open a stream. Returns the stream, or nghttp2's error.
  open(kind, id, headers, options) {
    return this.#transport.scoped(() => {
      const result = this.submit(kind, id, headers, (options & EMPTY_PAYLOAD) === 0);
      return result > 0 ? new Http2Stream(this, result, options) : result;
    });
  }
  request(headers, options) {
    return this.open(events.REQUEST, 0, headers, options);
  }

  ping(payload, callback) {
    const ping = new Ping(this, callback);
    if (this.#pings.length === this.#maxPings) {
      ping.finish(false);
      return false;
    }
    this.memory.add(ANSWER_BYTES);
    const bytes = payload === undefined ? ping.defaultPayload() : payload;
    this.#transport.scoped(() => native.h2Ping(this.state, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)));
    this.#pings.push(ping);
    return true;
  }
  // Returns the oldest unacknowledged ping.
  takePing() {
    if (this.#pings.length > 0) this.memory.subtract(ANSWER_BYTES);
    return this.#pings.shift();
  }

  settings(callback) {
    const settings = new Settings(this, callback);
    if (this.#unanswered.length === this.#maxSettings) {
      settings.finish(false);
      return false;
    }
    this.memory.add(ANSWER_BYTES);
    this.#transport.scoped(() => this.#settings.send());
    this.#unanswered.push(settings);
    return true;
  }
  takeSettings() {
    if (this.#unanswered.length > 0) this.memory.subtract(ANSWER_BYTES);
    return this.#unanswered.shift();
  }
  localSettings() {
    this.#settings.read(true);
  }
  remoteSettings() {
    this.#settings.read(false);
  }

  goaway(code, lastStreamId, data) {
    if (this.#transport.isDestroyed) return;
    this.#hasSentGoaway = true;
    const bytes = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(0);
    this.#transport.scoped(() => native.h2Goaway(this.state, code, lastStreamId, bytes));
  }
  altsvc(id, origin, value) {
    this.#transport.scoped(() => native.h2AltSvc(this.state, id, latin1(`${origin}`), latin1(`${value}`)));
  }
  origin(text, count) {
    this.#transport.scoped(() => native.h2Origin(this.state, latin1(text), count));
  }
  setNextStreamID(id) {
    return native.h2SetNextStreamId(this.state, id);
  }
  setLocalWindowSize(bytes) {
    return native.h2SetLocalWindow(this.state, bytes);
  }
  refreshState() {
    binding.sessionState.set(native.h2State(this.state));
  }
}

module.exports = { Http2Session, connect };
