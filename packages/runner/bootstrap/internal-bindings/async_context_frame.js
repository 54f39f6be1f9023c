// The slot that AsyncLocalStorage uses. The engine stores the slot's value with every reaction and
// microtask (the patch `async-context`).
'use strict';

module.exports = function asyncContextFrame(binding) {
  binding.getContinuationPreservedEmbedderData = native.getContinuationData;
  binding.setContinuationPreservedEmbedderData = native.setContinuationData;
};
