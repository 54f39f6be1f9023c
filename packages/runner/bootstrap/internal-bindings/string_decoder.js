// Decodes text that arrives in pieces (string_decoder.cc). The state is a small buffer that Node's
// class owns. The buffer has the bytes of the incomplete character, the number of missing bytes,
// the number of present bytes, and the encoding.
'use strict';

const context = require('../context.js');

const { utf8, utf16le, base64, base64url } = native.encodings;
const MISSING = 4;
const BUFFERED = 5;
const ENCODING = 6;

module.exports = function stringDecoder(binding) {
  binding.decode = (state, chunk) => {
    if (typeof chunk === 'string') return chunk;
    if (!ArrayBuffer.isView(chunk)) {
      const { ERR_INVALID_ARG_TYPE } = context.requireBuiltin('internal/errors').codes;
      throw new ERR_INVALID_ARG_TYPE('buf', ['Buffer', 'TypedArray', 'DataView'], chunk);
    }
    return decode(state, new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  };
  binding.flush = (state) => {
    if (state[ENCODING] === utf16le && state[BUFFERED] % 2 === 1) {
      state[MISSING]--;
      state[BUFFERED]--;
    }
    const text = state[BUFFERED] === 0 ? '' : native.decode(state, 0, state[BUFFERED], state[ENCODING]);
    state[MISSING] = state[BUFFERED] = 0;
    return text;
  };
};

function decode(state, bytes) {
  const encoding = state[ENCODING];
  if (encoding !== utf8 && encoding !== utf16le && encoding !== base64 && encoding !== base64url) {
    return native.decode(bytes, 0, bytes.length, encoding);
  }
  let prepend = '';
  let start = 0;
  if (state[MISSING] > 0) {
    start = completeCharacter(state, bytes, encoding);
    if (state[MISSING] === 0) {
      prepend = native.decode(state, 0, state[BUFFERED], encoding);
      state[BUFFERED] = 0;
      // The first half of a surrogate pair waits for the second half.
      const lead = encoding === utf16le ? keepHighSurrogate(state, prepend, 2) : false;
      if (lead) {
        prepend = prepend.slice(0, -1);
        return start < bytes.length ? prepend + decode(state, bytes.subarray(start)) : prepend;
      }
    }
  }
  if (start >= bytes.length) return prepend;
  const end = keepIncomplete(state, bytes, start, encoding);
  if (end <= start) return prepend;
  return prepend + native.decode(bytes, start, end, encoding);
}

const isHighSurrogate = (text) => {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
};

function keepHighSurrogate(state, text, buffered) {
  if (!isHighSurrogate(text)) return false;
  const last = text.charCodeAt(text.length - 1);
  state[0] = last & 255;
  state[1] = last >> 8;
  state[MISSING] = 2;
  state[BUFFERED] = buffered;
  return true;
}

// Completes the incomplete character with the first bytes of `bytes`. Returns the number of used
// bytes.
function completeCharacter(state, bytes, encoding) {
  let used = 0;
  if (encoding === utf8) {
    for (let i = 0; i < bytes.length && i < state[MISSING]; i++) {
      if ((bytes[i] & 0xc0) !== 0x80) {
        // This byte continues no character, so the incomplete character ends here.
        state[MISSING] = 0;
        state.set(bytes.subarray(0, i), state[BUFFERED]);
        state[BUFFERED] += i;
        return i;
      }
    }
  }
  used = Math.min(state[MISSING], bytes.length);
  state.set(bytes.subarray(0, used), state[BUFFERED]);
  state[MISSING] -= used;
  state[BUFFERED] += used;
  return used;
}

// Moves an incomplete character at the end of `bytes` into the state. Returns the end of the
// complete characters.
function keepIncomplete(state, bytes, start, encoding) {
  const length = bytes.length - start;
  if (encoding === utf8) {
    if ((bytes[bytes.length - 1] & 0x80) !== 0) countIncomplete(state, bytes, start);
  } else if (encoding === utf16le) {
    if (length % 2 === 1) {
      state[BUFFERED] = 1;
      state[MISSING] = 1;
    } else if ((bytes[bytes.length - 1] & 0xfc) === 0xd8) {
      state[BUFFERED] = 2;
      state[MISSING] = 2;
    }
  } else {
    state[BUFFERED] = length % 3;
    if (state[BUFFERED] > 0) state[MISSING] = 3 - state[BUFFERED];
  }
  const end = bytes.length - state[BUFFERED];
  state.set(bytes.subarray(end), 0);
  return end;
}

function countIncomplete(state, bytes, start) {
  for (let i = bytes.length - 1; ; i--) {
    state[BUFFERED]++;
    const byte = bytes[i];
    if ((byte & 0xc0) === 0x80) {
      if (state[BUFFERED] >= 4 || i === start) {
        state[MISSING] = state[BUFFERED] = 0;
        return;
      }
      continue;
    }
    let size = state[MISSING];
    if ((byte & 0xe0) === 0xc0) size = 2;
    else if ((byte & 0xf0) === 0xe0) size = 3;
    else if ((byte & 0xf8) === 0xf0) size = 4;
    state[MISSING] = size;
    if (state[BUFFERED] >= size) state[MISSING] = state[BUFFERED] = 0;
    else state[MISSING] = size - state[BUFFERED];
    return;
  }
}
