// Clocks, milestones, observers and histograms of `perf_hooks` (node_perf.cc). The shim writes the
// time origin to shared memory when a process starts. Next: ../performance/histogram-handle.js;
// ../event-loop/loop-clock.js.
'use strict';

const context = require('../context.js');
const { HistogramHandle, IntervalHistogram, install } = require('../performance/histogram-handle.js');
const { idleMs, loopStart } = require('../event-loop/loop-clock.js');
const { unavailableError } = require('../errors/unavailable.js');

module.exports = function performance(binding) {
  const { NODE_PERFORMANCE_MILESTONE_TIME_ORIGIN: ORIGIN, NODE_PERFORMANCE_MILESTONE_TIME_ORIGIN_TIMESTAMP: ORIGIN_TIMESTAMP } =
    binding.constants;
  if (ORIGIN !== 1 || ORIGIN_TIMESTAMP !== 0) throw new Error("Node's milestones have other indexes: engine/shim writes 0 and 1");
  const { milestones } = native.loop;
  binding.milestones = milestonesOf(binding.constants, milestones);
  binding.now = () => native.clockNs(1) / 1e6 - milestones[ORIGIN] / 1e6;
  collections(binding);
  binding.notify = () => {};
  binding.loopIdleTime = idleMs;
  binding.markBootstrapComplete = () => {};
  binding.uvMetricsInfo = () => [0, 0, 0];

  install(binding.Histogram.prototype);
  binding.Histogram = HistogramHandle;
  Object.defineProperty(HistogramHandle, 'name', { value: 'Histogram', configurable: true });
  binding.createELDHistogram = (resolution, samplePerIteration) => {
    if (samplePerIteration) throw unavailableError('monitorEventLoopDelay({ samplePerIteration: true })');
    return new IntervalHistogram(resolution);
  };
  context.shareHandles(HistogramHandle);
  context.shareHandles(IntervalHistogram);
};

// The engine frees unreferenced values at once, without a collection. A collection of cycles is
// reported only if a program forces the collection.
function collections(binding) {
  const { NODE_PERFORMANCE_GC_MAJOR, NODE_PERFORMANCE_GC_FLAGS_FORCED } = binding.constants;
  let observe;
  let tracking = false;
  binding.setupObservers = (callback) => {
    observe = callback;
  };
  binding.installGarbageCollectionTracking = () => {
    tracking = true;
  };
  binding.removeGarbageCollectionTracking = () => {
    tracking = false;
  };
  // Entries of other bindings, by the name of their type.
  context.hasPerformanceObserver = (type) =>
    binding.observerCounts[binding.constants[`NODE_PERFORMANCE_ENTRY_TYPE_${type.toUpperCase()}`]] > 0;
  context.observePerformance = (name, type, start, duration, detail) => observe?.(name, type, start, duration, detail);
  context.collectGarbage = () => {
    const start = binding.now();
    native.gc();
    if (!tracking) return;
    const duration = binding.now() - start;
    const detail = { kind: NODE_PERFORMANCE_GC_MAJOR, flags: NODE_PERFORMANCE_GC_FLAGS_FORCED };
    native.enqueueTask(() => {
      if (tracking) observe('gc', 'gc', start, duration, detail);
    });
  };
}

// Makes the milestones of a process. The image contains the result of Node's boot, so the steps of
// the boot precede every process. Their times are the microseconds after the time origin, so that
// the steps keep their order.
function milestonesOf(constants, written) {
  const { NODE_PERFORMANCE_MILESTONE_TIME_ORIGIN: ORIGIN } = constants;
  const at = (name) => constants[`NODE_PERFORMANCE_MILESTONE_${name}`];
  const milestones = {};
  const define = (index, get) => Object.defineProperty(milestones, index, { get, enumerable: true });
  define(at('TIME_ORIGIN_TIMESTAMP'), () => written[at('TIME_ORIGIN_TIMESTAMP')]);
  define(ORIGIN, () => written[ORIGIN]);
  for (const [order, name] of ['NODE_START', 'V8_START', 'ENVIRONMENT', 'BOOTSTRAP_COMPLETE'].entries()) {
    define(at(name), () => written[ORIGIN] + (order + 1) * MILESTONE_APART_NS);
  }
  define(at('LOOP_START'), loopStart);
  // A process whose loop has ended runs only its exit listeners.
  define(at('LOOP_EXIT'), () => (native.loop.exitInfo[0] === 0 ? -1 : native.clockNs(1)));
  return milestones;
}

// The distance between two milestones. After months of uptime, the clock's nanoseconds as a double
// advance in steps of a few nanoseconds, so two closer milestones could have equal times.
const MILESTONE_APART_NS = 1_000;
