// What: hooks for WebAssembly.compileStreaming. The guest has no WebAssembly; Node registers its callback at start all the same.
'use strict';

module.exports = function wasmWebApi(binding) {
  binding.setImplementation = () => {};
};
