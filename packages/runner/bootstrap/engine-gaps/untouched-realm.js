// The global object of the realm that Node's library keeps for itself (internal/util's
// `getInternalGlobal`). The library takes `RegExp` from there, so that a program that patches
// `RegExp.prototype` cannot change the library's behaviour. No realm is needed: the methods are the
// engine's own functions, which this file keeps before any program runs. The methods look up `exec`
// and the flags on `Untouched.prototype`. Next: ../internal-bindings/contextify.js.
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
  // `split` makes a second instance, which must have the untouched class.
  Untouched[Symbol.species] = Untouched;
  return { RegExp: Untouched };
}

module.exports = { untouchedGlobal };
