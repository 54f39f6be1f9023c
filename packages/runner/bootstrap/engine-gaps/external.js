// What: V8's External, a pointer of C++ in the hands of JavaScript. Here it points to nothing: it can be told from other objects, and compared.
// Next: net/stream-base.js, whose streams have one; bindings/types.js and bindings/util.js, which tell of it.
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
