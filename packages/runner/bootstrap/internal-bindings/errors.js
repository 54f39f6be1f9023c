// Stacks and fatal errors (node_errors.cc). Next: ../errors/fatal.js, which prints reports. Node's
// script internal/process/execution selects the listener of an error.
'use strict';

const context = require('../context.js');
const { describe } = require('../errors/describe.js');
const { lineOf } = require('../errors/source-lines.js');

module.exports = function errors(binding) {
  let hasSourceMaps = false;
  // The shim requests only the first line from Node, and formats the frames. Node formats the whole
  // text if a formatter is set for this error, or if positions are mapped to other sources.
  binding.setPrepareStackTraceCallback = (prepare) => {
    const { ErrorPrepareStackTrace, overrideStackTrace } = context.requireBuiltin('internal/errors');
    native.setPrepareStackTrace(
      ErrorPrepareStackTrace,
      (error) => (hasSourceMaps || overrideStackTrace.has(error) ? undefined : ErrorPrepareStackTrace(error, [])),
      (error, sites) => prepare(globalThis, error, sites),
    );
  };
  binding.setEnhanceStackForFatalException = (before, after) => {
    context.enhanceStackBefore = before;
    context.enhanceStackAfter = after;
  };
  binding.setGetSourceMapErrorSource = () => {};
  binding.setSourceMapsEnabled = (on) => {
    hasSourceMaps = on;
  };
  binding.setMaybeCacheGeneratedSourceMap = () => {};
  binding.noSideEffectsToString = describe;
  binding.triggerUncaughtException = native.reportUncaught;
  // Returns the position of the innermost frame that has a source. The returned column
  // counts from 0.
  binding.getErrorSourcePositions = (error) => {
    const [scriptResourceName, lineNumber, column] = native.errorPosition(error) ?? ['', 0, 1];
    const sourceLine = lineOf(scriptResourceName, lineNumber) ?? '';
    return { sourceLine, scriptResourceName, lineNumber, startColumn: column - 1 };
  };
};
