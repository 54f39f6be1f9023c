// What: signals by their numbers (node::signo_string).
// Next: bindings/process_wrap.js and bindings/spawn_sync.js, which tell how a child ended.
'use strict';

const context = require('../context.js');

let names;

// '' for 0.
function signalName(signal) {
  if (signal === 0) return '';
  if (names === undefined) {
    names = new Map();
    // Of two names for one number Node gives the first.
    for (const [name, number] of Object.entries(context.internalBinding('constants').os.signals))
      if (!names.has(number)) names.set(number, name);
  }
  return names.get(signal) ?? '';
}

module.exports = { signalName };
