// The order in which the guest boots: Node's own sequence (node_realm.cc, node.cc), then Node's
// preparation of a process. The last steps are ours: loading the public modules and running dummy
// programs, so that the image contains their results. Node's sequence is kept because the library
// depends on it, and because an upgrade of Node then changes no order of ours. Next:
// ../internal-bindings/index.js (the results of `internalBinding`), preload.js,
// ../event-loop/hooks.js (the functions that the shim calls in a process).
'use strict';

require('../program/shell-bundle.js'); // before all other files, which fill the free blocks
const context = require('../context.js');
const { compileBuiltin } = require('./builtins.js');

module.exports = function boot() {
  require('../engine-gaps/globals.js')();
  require('../locale/index.js')();
  const { getInternalBinding } = require('../internal-bindings/index.js');
  const process = require('./process.js')(getInternalBinding);
  context.process = process;
  const { primordials, perContextExports } = context;
  const { privateSymbols } = getInternalBinding('util');
  const symbols = getInternalBinding('symbols');

  for (const id of ['primordials', 'domexception', 'messageport']) {
    compileBuiltin(`internal/per_context/${id}`)(perContextExports, primordials, privateSymbols, symbols);
  }
  require('../errors/denials.js').install();
  compileBuiltin('internal/bootstrap/realm')(process, noLinkedBinding, getInternalBinding, primordials);
  require('../typescript/install.js').install();
  require('../http/undici-parser.js').install();
  require('../modules/conditions.js').keepOpen();
  for (const id of [
    'node',
    'web/exposed-wildcard',
    'web/exposed-window-or-worker',
    'switches/is_main_thread',
    'switches/does_own_process_state',
  ]) {
    compileBuiltin(`internal/bootstrap/${id}`)(process, context.requireBuiltin, context.internalBinding, primordials);
  }

  require('../errors/fatal.js').prepare();
  require('../event-loop/hooks.js').install();
  prepareExecution(getInternalBinding);
  require('../standard-streams/console-log.js').install();
  require('./preload.js')();
  require('./refresh.js').prepare();
};

// Runs Node's preparation of a process for all processes at once. A flag states that a start-up
// snapshot is being built. Node's scripts then keep `process.argv0` configurable, which refresh.js
// needs.
function prepareExecution(getInternalBinding) {
  const { isBuildingSnapshotBuffer } = getInternalBinding('mksnapshot');
  const { prepareMainThreadExecution, markBootstrapComplete } = context.requireBuiltin('internal/process/pre_execution');
  isBuildingSnapshotBuffer[0] = 1;
  prepareMainThreadExecution(false, true);
  isBuildingSnapshotBuffer[0] = 0;
  markBootstrapComplete();
}

function noLinkedBinding(name) {
  throw new Error(`No such binding: ${name}`);
}
