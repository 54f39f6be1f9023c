// The binding of HTTP/2 (node_http2.cc) on nghttp2, which is C in the guest
// (engine/shim/library-nghttp2.c). Next: ../http2/session.js.
'use strict';

const { setCallbacks } = require('../http2/answers.js');
const session = require('../http2/session.js');
const { pack, writeDefaults } = require('../http2/settings.js');
const stream = require('../http2/stream.js');

module.exports = function http2(binding) {
  session.connect(binding);
  stream.connect(binding);
  binding.Http2Session = session.Http2Session;
  binding.Http2Stream = stream.Http2Stream;
  binding.setCallbackFunctions = setCallbacks;
  binding.nghttp2ErrorString = native.h2ErrorString;
  binding.refreshDefaultSettings = () => writeDefaults(binding.settingsBuffer);
  binding.packSettings = () => pack(binding.settingsBuffer);
};
