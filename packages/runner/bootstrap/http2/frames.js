// The events of nghttp2 (node_http2.cc, the callbacks of `Http2Session`): each function handles an
// event of the shim and calls Node's library. Floods of invalid, empty or refused frames end the
// session, with Node's limits. Next: stream.js.
'use strict';

const { callbacksOf } = require('./answers.js');
const events = require('./events.js');
const { Http2Stream } = require('./stream.js');

const TOO_MANY_INVALID_FRAMES = 'ERR_HTTP2_TOO_MANY_INVALID_FRAMES';
const STOP = 1;

// Bits of the session's `fields`.
const HAS_SETTINGS_LISTENERS = 0;
const SETTINGS_ARE_CURRENT = 1;
const HAS_PING_LISTENERS = 2;
const HAS_ALTSVC_LISTENERS = 3;

// The code in a frame for each error of nghttp2. Other errors are internal errors.
const CODE_OF_ERROR = new Map([
  [events.ERR_STREAM_CLOSED, events.STREAM_CLOSED],
  [events.ERR_HEADER_COMP, events.COMPRESSION_ERROR],
  [events.ERR_FRAME_SIZE, events.FRAME_SIZE_ERROR],
  [events.ERR_FLOW_CONTROL, events.FLOW_CONTROL_ERROR],
  [events.ERR_REFUSED_STREAM, events.REFUSED_STREAM],
  [events.ERR_PROTO, events.PROTOCOL_ERROR],
  [events.ERR_HTTP_HEADER, events.PROTOCOL_ERROR],
  [events.ERR_HTTP_MESSAGING, events.PROTOCOL_ERROR],
]);

// The errors of an invalid frame that the program receives.
const REPORTED = [events.ERR_STREAM_CLOSED, events.ERR_FLOW_CONTROL, events.ERR_PROTO];
// The errors that only mean that a frame was queued too late.
const TOO_LATE = [events.ERR_SESSION_CLOSING, events.ERR_STREAM_CLOSED, events.ERR_STREAM_CLOSING];

const bufferOf = (bytes) => (bytes === undefined ? undefined : Buffer.from(bytes));

// Returns the stream unless the program has destroyed it.
function liveStream(session, id) {
  const stream = session.streams.get(id);
  return stream === undefined || stream.isDestroyed ? undefined : stream;
}

// Opens a stream for its first headers. Returns the bytes of headers that are allowed, or an error.
function beginHeaders(session, id) {
  const { transport } = session;
  let stream = session.streams.get(id);
  if (stream === undefined) {
    const isRefused = transport.isClosing || !session.canAddStream();
    if (isRefused && !transport.isClosing && session.rejectedStreams++ > session.maxRejectedStreams) {
      return events.ERR_CALLBACK_FAILURE;
    }
    if (isRefused) {
      native.h2Reset(session.state, id, transport.isClosing ? events.REFUSED_STREAM : events.ENHANCE_YOUR_CALM);
      return events.ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    stream = new Http2Stream(session, id, 0);
    session.rejectedStreams = 0;
  }
  // The headers of a destroyed stream are ignored.
  return stream.isDestroyed ? stream.maxHeaderBytes : Math.min(stream.maxHeaderBytes, session.memory.left);
}

function headers(session, id, category, flags, list, sensitive, bytes) {
  const stream = liveStream(session, id);
  if (stream === undefined) return;
  stream.keepHeaders(bytes);
  session.notify(callbacksOf().headers, stream, id, category, flags, list, sensitive);
}

// The end of a DATA frame that ends its stream or is empty. A flood of empty frames is an error.
function dataFrame(session, id, isEnd) {
  const stream = liveStream(session, id);
  if (stream !== undefined && isEnd) {
    stream.receiveEnd();
    return 0;
  }
  return session.invalidFrames++ > session.maxInvalidFrames ? tooManyInvalidFrames(session) : 0;
}

function tooManyInvalidFrames(session) {
  session.transport.customError = TOO_MANY_INVALID_FRAMES;
  return STOP;
}

function settings(session, isAnswer, pairs) {
  if (isAnswer) {
    const answered = session.takeSettings();
    if (answered === undefined) session.notifyError(events.ERR_PROTO);
    else answered.finish(true);
    return;
  }
  session.clearBit(SETTINGS_ARE_CURRENT);
  session.peerSettings.receive(pairs);
  if (session.hasListeners(HAS_SETTINGS_LISTENERS)) session.notify(callbacksOf().settings);
}

function ping(session, isAnswer, payload) {
  if (isAnswer) {
    // A PING with ACK and without a ping is an error, because no peer has a reason for such a
    // frame.
    const answered = session.takePing();
    if (answered === undefined) session.notifyError(events.ERR_PROTO);
    else answered.finish(true, Buffer.from(payload));
  } else if (session.hasListeners(HAS_PING_LISTENERS)) {
    session.notify(callbacksOf().ping, Buffer.from(payload));
  }
}

function invalidFrame(session, error) {
  if (session.invalidFrames++ > session.maxInvalidFrames) return tooManyInvalidFrames(session);
  if (error < events.ERR_FATAL || REPORTED.includes(error)) session.notifyError(error);
  return 0;
}

// A frame that was not sent. A GOAWAY that was not sent is reported always, because the session
// would otherwise wait for the peer for ever.
function notSent(session, id, type, error) {
  if (TOO_LATE.includes(error) && type !== events.GOAWAY_FRAME) return;
  session.notify(callbacksOf().frameError, id, type, CODE_OF_ERROR.get(error) ?? events.INTERNAL_ERROR);
}

function closed(session, id, code) {
  const stream = liveStream(session, id);
  // Node's library returns false for a stream that it does not know.
  if (stream !== undefined && stream.notify(callbacksOf().close, code) !== true) stream.destroy();
}

// Returns the handler that the natives of HTTP/2 call for the session.
const frameHandler = (session) => (event, a, b, c, d, e, f) => {
  switch (event) {
    case events.BEGIN_HEADERS:
      return beginHeaders(session, a);
    case events.HEADERS:
      return headers(session, a, b, c, d, e, f);
    case events.TOO_MANY_HEADERS:
      return liveStream(session, a)?.rstStream(events.ENHANCE_YOUR_CALM);
    case events.DATA:
      return liveStream(session, a)?.receive(b);
    case events.DATA_FRAME:
      return dataFrame(session, a, b);
    case events.SETTINGS:
      return settings(session, a, b);
    case events.PRIORITY:
      return session.hasPriorityListeners ? void session.notify(callbacksOf().priority, a, b, c, d) : undefined;
    case events.GOAWAY:
      return void session.notify(callbacksOf().goaway, a, b, bufferOf(c));
    case events.PING:
      return ping(session, a, b);
    case events.ALTSVC:
      return session.hasListeners(HAS_ALTSVC_LISTENERS) ? void session.notify(callbacksOf().altsvc, a, b, c) : undefined;
    case events.ORIGIN:
      return void session.notify(callbacksOf().origin, a);
    case events.INVALID_FRAME:
      return invalidFrame(session, a);
    case events.NOT_SENT:
      return notSent(session, a, b, c);
    case events.GOAWAY_SENT:
      return session.transport.goawaySent();
    case events.CLOSED:
      return closed(session, a, b);
    case events.NO_PEER:
      return session.notifyError(events.ERR_PROTO);
    case events.READ:
      return session.streams.get(a)?.read(b) ?? 0;
    case events.SEND:
      return session.streams.get(a)?.send(b);
    default:
      throw new Error(`unknown event ${event} of HTTP/2`);
  }
};

module.exports = { frameHandler };
