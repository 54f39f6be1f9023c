// The functions of `node:v8` that have a meaning on another engine (node_v8.cc). The engine's heap
// has one space, which is reported as V8's old space. Parts that only V8 has are reported as empty,
// as V8 reports unused spaces. These parts are the spaces of code and of hidden classes, and the
// heap of C++ objects. Next: serdes.js; heap snapshots stay unavailable.
'use strict';

const LIMIT = 2 ** 31;
const THE_SPACE = 'old_space';

module.exports = function v8(binding) {
  binding.cachedDataVersionTag = () => 0;
  binding.setFlagsFromString = () => {};
  binding.setHeapSnapshotNearHeapLimit = () => {};
  binding.isStringOneByteRepresentation = (text) => isLatin1(text);
  binding.updateHeapStatisticsBuffer = () => {
    const usage = native.memoryUsage();
    const fields = binding.heapStatisticsBuffer;
    fields.fill(0);
    fields[binding.kTotalHeapSizeIndex] = usage.heapTotal;
    fields[binding.kTotalPhysicalSizeIndex] = usage.heapTotal;
    fields[binding.kUsedHeapSizeIndex] = usage.heapUsed;
    fields[binding.kMallocedMemoryIndex] = usage.heapTotal;
    fields[binding.kPeakMallocedMemoryIndex] = usage.heapTotal;
    fields[binding.kExternalMemoryIndex] = usage.external;
    fields[binding.kHeapSizeLimitIndex] = LIMIT;
    fields[binding.kTotalAvailableSize] = LIMIT - usage.heapTotal;
    fields[binding.kNumberOfNativeContextsIndex] = 1;
  };
  binding.updateHeapSpaceStatisticsBuffer = (index) => {
    const fields = binding.heapSpaceStatisticsBuffer;
    fields.fill(0);
    if (binding.kHeapSpaces[index] !== THE_SPACE) return;
    const usage = native.memoryUsage();
    fields[binding.kSpaceSizeIndex] = usage.heapTotal;
    fields[binding.kSpaceUsedSizeIndex] = usage.heapUsed;
    fields[binding.kSpaceAvailableSizeIndex] = usage.heapTotal - usage.heapUsed;
    fields[binding.kPhysicalSpaceSizeIndex] = usage.heapTotal;
  };
  binding.updateHeapCodeStatisticsBuffer = () => {
    binding.heapCodeStatisticsBuffer.fill(0);
  };
};

function isLatin1(text) {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0xff) return false;
  return true;
}
