// Makes the native base classes of `KeyObject` and `CryptoKey`. Private fields of the classes store
// the state that no program can reach. Next: keys.js.
'use strict';

const { coded } = require('./faults.js');

const illegal = (name) => coded(TypeError, 'ERR_INVALID_THIS', `Value of "this" must be of type ${name}`);

let keySlots;
let cryptoSlots;
let InternalCryptoKey;

function createNativeKeyObjectClass(extend) {
  return extend(
    class NativeKeyObject {
      #handle;

      constructor(handle) {
        this.#handle = handle;
      }

      static {
        keySlots = (key) => (#handle in key ? [key.#handle.getKeyType(), key.#handle] : undefined);
      }
    },
  );
}

function createCryptoKeyClass(extend) {
  const made = extend(
    class NativeCryptoKey {
      #slots;

      constructor(handle, algorithm, usagesMask, extractable) {
        this.#slots = [handle.getKeyType(), extractable, algorithm, usagesMask, handle];
      }

      static {
        cryptoSlots = (key) => (#slots in key ? key.#slots.slice() : undefined);
      }
    },
  );
  InternalCryptoKey = made[1];
  return made;
}

function getKeyObjectSlots(key) {
  const slots = keySlots(key);
  if (slots === undefined) throw illegal('KeyObject');
  return slots;
}

function getCryptoKeySlots(key) {
  const slots = cryptoSlots(key);
  if (slots === undefined) throw illegal('CryptoKey');
  return slots;
}

const newCryptoKey = (...slots) => new InternalCryptoKey(...slots);

module.exports = { createNativeKeyObjectClass, createCryptoKeyClass, getKeyObjectSlots, getCryptoKeySlots, newCryptoKey };
