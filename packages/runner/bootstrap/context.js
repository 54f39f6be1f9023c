// What: the record that the files of this folder share while they boot: what Node's C++ keeps in its Environment.
// Why one record: Node's scripts hand functions to their bindings (`setTickCallback`, `setupTimers`, ...) at different moments; whoever needs
// one later reads it here. Nothing of it is reachable from a program.
// Next: boot.js fills it in.
'use strict';

module.exports = {
  /** The options of this process, when it was given any: name → value. */
  cliOptions: undefined,
  /** The object that Node's scripts call `process`. Made by process.js. */
  process: null,
  /** Filled by internal/per_context/primordials. */
  primordials: {},
  /** Exports of the internal/per_context files: DOMException, the message event. */
  perContextExports: {},
  /** Node's loaders, handed over by internal/bootstrap/realm. */
  internalBinding: null,
  requireBuiltin: null,
  /** util.privateSymbols, by name. */
  privateSymbols: null,
  /** Node's symbols binding. */
  symbols: null,
  /** Buffer.prototype, for the natives' results. */
  bufferPrototype: null,
  /** Callbacks that Node's scripts registered. */
  tickCallback: null,
  processTimers: null,
  processImmediate: null,
  /** errors.setEnhanceStackForFatalException */
  enhanceStackBefore: null,
  enhanceStackAfter: null,
};
