// The parts that all streams share: the state array and the requests (stream_wrap.cc). Next:
// ../net/stream-base.js.
'use strict';

const { ShutdownWrap, WriteWrap } = require('../net/requests.js');
const { StreamBase, streamBaseState } = require('../net/stream-base.js');

module.exports = function streamWrap(binding) {
  binding.streamBaseState = streamBaseState;
  binding.WriteWrap = WriteWrap;
  binding.ShutdownWrap = ShutdownWrap;
  binding.LibuvStreamWrap = StreamBase;
};
