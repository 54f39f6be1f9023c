// What: clocks and counters of `perf_hooks` (node_perf.cc). The milestones lie over the shim's memory, which writes the time origin at START.
'use strict';

module.exports = function performance(binding) {
  const { NODE_PERFORMANCE_MILESTONE_TIME_ORIGIN: ORIGIN, NODE_PERFORMANCE_MILESTONE_TIME_ORIGIN_TIMESTAMP: ORIGIN_TIMESTAMP } =
    binding.constants;
  if (ORIGIN !== 1 || ORIGIN_TIMESTAMP !== 0) throw new Error('the milestones of Node have moved: engine/shim writes 0 and 1');
  const { milestones } = native.loop;
  binding.milestones = milestones;
  binding.now = () => native.clockNs(1) / 1e6 - milestones[ORIGIN] / 1e6;
  binding.setupObservers = () => {};
  binding.installGarbageCollectionTracking = () => {};
  binding.removeGarbageCollectionTracking = () => {};
  binding.notify = () => {};
  binding.loopIdleTime = () => 0;
  binding.markBootstrapComplete = () => {};
  binding.uvMetricsInfo = () => [0, 0, 0];
};
