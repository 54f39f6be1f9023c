// The names of signals by number (node::signo_string). Next: ../internal-bindings/process_wrap.js
// and spawn_sync.js, which report how a child ended.
'use strict';

const context = require('../context.js');

let names;

// Returns '' for 0.
function signalName(signal) {
  if (signal === 0) return '';
  if (names === undefined) {
    names = new Map();
    // Node returns the first of two names for one number.
    for (const [name, number] of Object.entries(context.internalBinding('constants').os.signals))
      if (!names.has(number)) names.set(number, name);
  }
  return names.get(signal) ?? '';
}

module.exports = { signalName };
