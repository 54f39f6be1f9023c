// Only the parts of HTTP/2 that its module reads while loading: programs (fastify) require the
// module without using it. Next: ../errors/unavailable.js, which makes the other functions of this
// binding.
'use strict';

module.exports = function http2(binding) {
  binding.setCallbackFunctions = () => {};
};
