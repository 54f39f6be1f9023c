// Compares bytes in constant time: `timingSafeEqual`.
'use strict';

const { bytesOf } = require('./bytes.js');
const { coded } = require('./faults.js');
const { equalInConstantTime } = require('./kdf.js');

const isBytes = (value) => ArrayBuffer.isView(value) || native.types.isAnyArrayBuffer(value);

function timingSafeEqual(a, b) {
  for (const [name, value] of [
    ['buf1', a],
    ['buf2', b],
  ]) {
    if (isBytes(value)) continue;
    const message = `The "${name}" argument must be an instance of ArrayBuffer, Buffer, TypedArray, or DataView.`;
    throw coded(TypeError, 'ERR_INVALID_ARG_TYPE', message);
  }
  const [left, right] = [bytesOf(a), bytesOf(b)];
  if (left.length !== right.length) {
    throw coded(RangeError, 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH', 'Input buffers must have the same byte length');
  }
  return equalInConstantTime(left, right);
}

module.exports = { timingSafeEqual };
