// This thread is the main thread and the only thread (node_worker.cc).
'use strict';

module.exports = function worker(binding) {
  binding.isMainThread = true;
  binding.isInternalThread = false;
  binding.ownsProcessState = true;
  binding.threadId = 0;
  binding.resourceLimits = new Float64Array(4);
  binding.getEnvMessagePort = () => undefined;
};
