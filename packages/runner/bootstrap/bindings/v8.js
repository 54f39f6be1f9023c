// What: the few functions of `node:v8` that mean something on another engine (node_v8.cc).
'use strict';

module.exports = function v8(binding) {
  binding.cachedDataVersionTag = () => 0;
  binding.setFlagsFromString = () => {};
  binding.setHeapSnapshotNearHeapLimit = () => {};
  binding.isStringOneByteRepresentation = (text) => Array.prototype.every.call(text, (char) => char <= '\xff');
  binding.updateHeapStatisticsBuffer = () => {
    const usage = native.memoryUsage();
    const fields = binding.heapStatisticsBuffer;
    fields.fill(0);
    fields[binding.kTotalHeapSizeIndex] = usage.heapTotal;
    fields[binding.kTotalPhysicalSizeIndex] = usage.heapTotal;
    fields[binding.kUsedHeapSizeIndex] = usage.heapUsed;
    fields[binding.kMallocedMemoryIndex] = usage.heapTotal;
    fields[binding.kExternalMemoryIndex] = usage.external;
    fields[binding.kHeapSizeLimitIndex] = 2 ** 31;
    fields[binding.kTotalAvailableSize] = 2 ** 31 - usage.heapTotal;
    fields[binding.kNumberOfNativeContextsIndex] = 1;
  };
};
