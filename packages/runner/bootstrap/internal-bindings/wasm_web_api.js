// Hooks for WebAssembly.compileStreaming. The guest has no WebAssembly, but Node registers its
// callback at start.
'use strict';

module.exports = function wasmWebApi(binding) {
  binding.setImplementation = () => {};
};
