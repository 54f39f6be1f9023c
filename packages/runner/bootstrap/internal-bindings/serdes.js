// The classes under `v8.serialize` and `v8.deserialize` (node_serdes.cc). Next: ../serdes/writer.js
// and ../serdes/reader.js.
'use strict';

const { callError } = require('../serdes/errors.js');
const { Serializer } = require('../serdes/writer.js');
const { Deserializer } = require('../serdes/reader.js');

module.exports = function serdes(binding) {
  binding.Serializer = callable(Serializer, 'Serializer');
  binding.Deserializer = callable(Deserializer, 'Deserializer');
};

// Makes a class throw Node's own error if it is called without `new`.
function callable(Class, name) {
  const wrapper = function (...args) {
    if (new.target === undefined) throw callError(name);
    return Reflect.construct(Class, args, new.target);
  };
  Object.defineProperty(wrapper, 'name', { value: name, configurable: true });
  Object.defineProperty(wrapper, 'length', { value: Class.length, configurable: true });
  wrapper.prototype = Class.prototype;
  for (const method of Object.getOwnPropertyNames(Class.prototype)) {
    const value = method === 'constructor' ? wrapper : Class.prototype[method];
    Object.defineProperty(Class.prototype, method, { value, writable: true, configurable: true, enumerable: false });
  }
  return wrapper;
}
