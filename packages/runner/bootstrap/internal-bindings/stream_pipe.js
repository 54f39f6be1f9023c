// The binding that sends files through streams (stream_pipe.cc). Next: ../fs/stream-pipe.js.
'use strict';

const { StreamPipe } = require('../fs/stream-pipe.js');

module.exports = function streamPipe(binding) {
  binding.StreamPipe = StreamPipe;
};
