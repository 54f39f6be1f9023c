// V8's External, which wraps a pointer of C++ for JavaScript. In the guest an External wraps
// nothing: programs can distinguish an External from other objects and compare two Externals. Next:
// ../net/stream-base.js, whose streams have an External; ../internal-bindings/types.js and util.js,
// which test for Externals and return their addresses.
'use strict';

const FIRST_ADDRESS = 0x1000;
const APART = 16;

let made = 0;

class External {
  #address = BigInt(FIRST_ADDRESS + APART * made++);

  static is(value) {
    return typeof value === 'object' && value !== null && #address in value;
  }
  static addressOf(value) {
    return value.#address;
  }
}
Object.setPrototypeOf(External.prototype, null);
delete External.prototype.constructor;

module.exports = { External };
