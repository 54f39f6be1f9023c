// What: stacks and fatal errors (node_errors.cc).
// Next: ../fatal.js, which prints; Node's internal/process/execution decides who hears of an error.
'use strict';

const context = require('../context.js');
const { uncaught, describe } = require('../fatal.js');

module.exports = function errors(binding) {
  binding.setPrepareStackTraceCallback = (prepare) => {
    const { ErrorPrepareStackTrace } = context.requireBuiltin('internal/errors');
    native.setPrepareStackTrace(ErrorPrepareStackTrace, (error) => prepare(globalThis, error, []));
  };
  binding.setEnhanceStackForFatalException = (before, after) => {
    context.enhanceStackBefore = before;
    context.enhanceStackAfter = after;
  };
  binding.setGetSourceMapErrorSource = () => {};
  binding.setSourceMapsEnabled = () => {};
  binding.setMaybeCacheGeneratedSourceMap = () => {};
  binding.noSideEffectsToString = describe;
  binding.triggerUncaughtException = (error, fromPromise) => {
    if (uncaught(error, fromPromise)) return;
    native.exitUncaught();
  };
  binding.getErrorSourcePositions = () => ({});
};
