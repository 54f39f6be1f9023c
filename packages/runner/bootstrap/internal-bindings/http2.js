// What: nothing of HTTP/2 but what its module asks for while it is loaded: programs (fastify) require it without using it.
// Next: ../unavailable.js: everything else of this binding throws at use.
'use strict';

module.exports = function http2(binding) {
  binding.setCallbackFunctions = () => {};
};
