// Tracing, which is off: a sandbox has no inspector and no trace file (node_trace_events.cc).
'use strict';

module.exports = function traceEvents(binding) {
  const off = new Uint8Array(1);
  binding.getCategoryEnabledBuffer = () => off;
  binding.isTraceCategoryEnabled = () => false;
  binding.getEnabledCategories = () => undefined;
  binding.setTraceCategoryStateUpdateHandler = () => {};
  binding.trace = () => {};
};
