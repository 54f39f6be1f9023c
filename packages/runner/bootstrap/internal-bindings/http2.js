// Only the parts of HTTP/2 that Node's module `http2` reads while the module loads. Programs
// (fastify) require the module without using the module. Next: ../errors/unavailable.js, which
// makes the other functions of this binding.
'use strict';

module.exports = function http2(binding) {
  binding.setCallbackFunctions = () => {};
};
