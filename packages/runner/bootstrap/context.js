// The record that the files of the bootstrap share while they boot, like the Environment of Node's
// C++. Node's scripts pass functions to their bindings (`setTickCallback`, `setupTimers`, ...) at
// different times. A file that needs such a function later reads this record. No program can reach
// the record. Next: start-up/boot.js, which fills the record.
'use strict';

module.exports = {
  /** The options of this process, if any: name → value. */
  cliOptions: undefined,
  /**
   * The object that Node's scripts call `process`. The file start-up/process.js makes the object.
   */
  process: null,
  /** The primordials, which Node's script internal/per_context/primordials adds. */
  primordials: {},
  /** Exports of the internal/per_context files: DOMException, the message event. */
  perContextExports: {},
  /**
   * Node's loaders, which Node's script internal/bootstrap/realm passes to the binding `builtins`.
   */
  internalBinding: null,
  requireBuiltin: null,
  /** util.privateSymbols, by name. */
  privateSymbols: null,
  /** Node's symbols binding. */
  symbols: null,
  /** Buffer.prototype, the prototype of the bytes that natives return. */
  bufferPrototype: null,
  /** Callbacks that Node's scripts register. */
  tickCallback: null,
  processTimers: null,
  processImmediate: null,
  /** The two functions that Node's scripts pass to errors.setEnhanceStackForFatalException. */
  enhanceStackBefore: null,
  enhanceStackAfter: null,
};
