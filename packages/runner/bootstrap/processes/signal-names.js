// The names of signals by number (node::signo_string). Next: ../internal-bindings/process_wrap.js
// and spawn_sync.js, which report how a child ended.
'use strict';

const context = require('../context.js');

let names;

// Returns the name of a signal, or '' for 0 and for an unknown number.
function signalName(signal) {
  if (signal === 0) return '';
  if (names === undefined) {
    names = new Map();
    // If two names have one number, Node returns the first name.
    for (const [name, number] of Object.entries(context.internalBinding('constants').os.signals))
      if (!names.has(number)) names.set(number, name);
  }
  return names.get(signal) ?? '';
}

module.exports = { signalName };
