// TextEncoder and the UTF-8 half of TextDecoder (encoding_binding.cc).
'use strict';

const context = require('../context.js');

module.exports = function encodingBinding(binding) {
  const results = new Uint32Array(2);
  binding.encodeIntoResults = results;
  binding.encodeInto = (text, target) => {
    native.encodeInto(text, target, results);
  };
  binding.encodeUtf8String = (text) => new Uint8Array(native.encode(text, native.encodings.utf8));
  binding.decodeUTF8 = (input, ignoreBom, fatal) => {
    if (!ArrayBuffer.isView(input) && !isBuffer(input)) {
      const { ERR_INVALID_ARG_TYPE } = context.requireBuiltin('internal/errors').codes;
      throw new ERR_INVALID_ARG_TYPE('list', ['SharedArrayBuffer', 'ArrayBuffer', 'ArrayBufferView'], input);
    }
    if (fatal && !native.isUtf8(input)) {
      const { ERR_ENCODING_INVALID_ENCODED_DATA } = context.requireBuiltin('internal/errors').codes;
      throw new ERR_ENCODING_INVALID_ENCODED_DATA('utf-8', undefined);
    }
    return native.decodeUtf8(input, 0, input.byteLength, Boolean(ignoreBom), false);
  };
  binding.toASCII = (name) => native.idna(name, false);
  binding.toUnicode = (name) => native.idna(name, true);
};

const isBuffer = (value) =>
  native.classId(value) === native.classes.ARRAY_BUFFER || native.classId(value) === native.classes.SHARED_ARRAY_BUFFER;
