// What: the global object of the realm that Node's library keeps for itself (internal/util's `getInternalGlobal`): it takes `RegExp` from there, so
// that a program that patches `RegExp.prototype` cannot see into the library.
// Why not a realm: the methods are the engine's own functions, saved before any program runs; they look up `exec` and the flags on this prototype.
// Next: bindings/contextify.js.
'use strict';

const descriptors = Object.getOwnPropertyDescriptors(RegExp.prototype);
const { construct } = Reflect;
const Original = RegExp;

function untouchedGlobal() {
  function Untouched(source, flags) {
    return construct(Original, [source, flags], Untouched);
  }
  delete descriptors.constructor;
  Object.defineProperties(Untouched.prototype, descriptors);
  // A species of the untouched class: `split` makes another one.
  Untouched[Symbol.species] = Untouched;
  return { RegExp: Untouched };
}

module.exports = { untouchedGlobal };
