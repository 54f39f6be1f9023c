// What: the slot that AsyncLocalStorage lives in. The engine saves it with every reaction and microtask (engine/patches).
'use strict';

module.exports = function asyncContextFrame(binding) {
  binding.getContinuationPreservedEmbedderData = native.getContinuationData;
  binding.setContinuationPreservedEmbedderData = native.setContinuationData;
};
