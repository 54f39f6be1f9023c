// The numbers that the shim's natives of HTTP/2 and the bootstrap share
// (engine/shim/library-nghttp2.c), and the numbers of nghttp2 that the bootstrap uses. Next:
// session.js.
'use strict';

module.exports = {
  // The events of the handler.
  BEGIN_HEADERS: 0,
  HEADERS: 1,
  TOO_MANY_HEADERS: 2,
  DATA: 3,
  DATA_FRAME: 4,
  SETTINGS: 5,
  PRIORITY: 6,
  GOAWAY: 7,
  PING: 8,
  ALTSVC: 9,
  ORIGIN: 10,
  INVALID_FRAME: 11,
  NOT_SENT: 12,
  GOAWAY_SENT: 13,
  CLOSED: 14,
  NO_PEER: 15,
  READ: 16,
  SEND: 17,

  // Flags in the result of READ, and the result while a stream has no data.
  READ_ENDED: 1 << 28,
  READ_TRAILERS: 1 << 29,
  DEFERRED: -508,

  // Kinds of `h2Submit`.
  REQUEST: 0,
  RESPONSE: 1,
  INFORMATION: 2,
  TRAILERS: 3,
  PUSH: 4,

  // The size of an output after which more output may follow.
  OUTPUT_BYTES: 131_072,

  // Error codes of nghttp2.
  ERR_PROTO: -505,
  ERR_STREAM_CLOSED: -510,
  ERR_STREAM_CLOSING: -511,
  ERR_REFUSED_STREAM: -533,
  ERR_HEADER_COMP: -523,
  ERR_FLOW_CONTROL: -524,
  ERR_FRAME_SIZE: -522,
  ERR_SESSION_CLOSING: -530,
  ERR_HTTP_HEADER: -531,
  ERR_HTTP_MESSAGING: -532,
  ERR_TEMPORAL_CALLBACK_FAILURE: -521,
  ERR_CALLBACK_FAILURE: -902,
  // Codes below this number are fatal (`nghttp2_is_fatal`).
  ERR_FATAL: -900,

  // Error codes of frames.
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  ENHANCE_YOUR_CALM: 11,

  GOAWAY_FRAME: 7,
};
