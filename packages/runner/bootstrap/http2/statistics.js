// The performance entries of sessions and streams, which observers of the type `http2` receive
// when a session or a stream ends (node_http2.cc, `EmitStatistics`). Times are nanoseconds of the
// monotonic clock; the entries have milliseconds. Next: session.js, stream.js.
'use strict';

const context = require('../context.js');

const NS_PER_MS = 1e6;
const now = () => native.clockNs(1);

// Passes an entry to the observers in the loop's next round, if there are observers.
function emit(name, start, detail) {
  if (!context.hasPerformanceObserver('http2')) return;
  const duration = (now() - start) / NS_PER_MS;
  const origin = native.loop.milestones[1];
  native.enqueueTask(() => context.observePerformance(name, 'http2', (start - origin) / NS_PER_MS, duration, detail));
}

class SessionStatistics {
  #type;
  #start = now();
  pingRtt = 0;
  streamCount = 0;
  streamAverageDuration = 0;
  maxConcurrentStreams = 0;

  constructor(type) {
    this.#type = type;
  }
  countStream(open) {
    this.streamCount++;
    this.maxConcurrentStreams = Math.max(this.maxConcurrentStreams, open);
  }
  emit({ state, transport }) {
    const [framesReceived, framesSent] = native.h2Frames(state);
    emit('Http2Session', this.#start, {
      bytesWritten: transport.sent,
      bytesRead: transport.received,
      framesReceived,
      framesSent,
      maxConcurrentStreams: this.maxConcurrentStreams,
      pingRTT: this.pingRtt,
      streamAverageDuration: this.streamAverageDuration,
      streamCount: this.streamCount,
      type: this.#type,
    });
  }
}

class StreamStatistics {
  #id;
  #start = now();
  #firstHeader = 0;
  #firstByte = 0;
  #firstByteSent = 0;
  received = 0;
  sent = 0;

  constructor(id) {
    this.#id = id;
  }
  header() {
    this.#firstHeader ||= now();
  }
  byte() {
    this.#firstByte ||= now();
  }
  byteSent() {
    this.#firstByteSent ||= now();
  }
  emit(session) {
    const since = (time) => (time - this.#start) / NS_PER_MS;
    session.streamAverageDuration = since(now()) / session.streamCount;
    emit('Http2Stream', this.#start, {
      bytesRead: this.received,
      bytesWritten: this.sent,
      id: this.#id,
      timeToFirstByte: since(this.#firstByte),
      timeToFirstByteSent: since(this.#firstByteSent),
      timeToFirstHeader: since(this.#firstHeader),
    });
  }
}

module.exports = { SessionStatistics, StreamStatistics };
