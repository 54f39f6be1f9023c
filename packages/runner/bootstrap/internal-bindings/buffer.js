// Buffer's codecs and searches (node_buffer.cc). The shim does the work; this file has Node's
// argument rules. Next: string_decoder.js and encoding_binding.js, which use these natives too.
'use strict';

const context = require('../context.js');

const { ascii, utf8, base64, base64url, latin1, hex, utf16le } = native.encodings;
const MAX_STRING_LENGTH = 536870888;
const MAX_LENGTH = Number.MAX_SAFE_INTEGER;
// A text of at most this many bytes fits into a string in every encoding.
const SHORT = 2 ** 24;

// The shim's result (-1 out of range, -2 no bytes to fill with) → the result of Node's binding.
const FILL_RESULTS = { __proto__: null, '-1': -2, '-2': -1 };

module.exports = function buffer(binding) {
  binding.kMaxLength = MAX_LENGTH;
  binding.kStringMaxLength = MAX_STRING_LENGTH;
  binding.setBufferPrototype = (prototype) => {
    context.bufferPrototype = prototype;
  };
  binding.createUnsafeArrayBuffer = (size) => new ArrayBuffer(size);
  binding.getZeroFillToggle = () => undefined;
  binding.setDetachKey = () => {};

  const codecs = { ascii, base64, base64url, latin1, hex, ucs2: utf16le, utf8 };
  for (const name of Object.keys(codecs)) {
    binding[`${name}Slice`] = makeSlice(codecs[name]);
    const write = makeWrite(codecs[name]);
    if (`${name}WriteStatic` in binding) binding[`${name}WriteStatic`] = write;
    if (`${name}Write` in binding) binding[`${name}Write`] = write;
  }

  binding.byteLengthUtf8 = native.byteLength;
  binding.copy = native.copy;
  binding.compare = native.compare;
  binding.compareOffset = (a, b, bStart, aStart, bLength, aLength) => {
    if (aStart > a.byteLength) throw outOfRange('The value of "sourceStart" is out of range.');
    if (bStart > b.byteLength) throw outOfRange('The value of "targetStart" is out of range.');
    return native.compareOffset(a, b, aStart, bStart, aLength, bLength);
  };
  binding.fill = (view, value, start, end, encoding) => {
    if (start < 0 || end < 0) throw outOfRange('Index out of range');
    const number = typeof encoding === 'string' ? encodingNumber(encoding) : encoding;
    const result = native.fill(view, patternOf(value, number, end - start), start, end, number);
    return FILL_RESULTS[result] ?? result;
  };
  binding.indexOfString = (view, text, offset, encoding, forward, end) => indexOf(view, text, offset, encoding, forward, end);
  binding.indexOfBuffer = (view, needle, offset, encoding, forward, end) => indexOf(view, needle, offset, encoding, forward, end);
  binding.indexOfNumber = (view, byte, offset, forward, end) => indexOf(view, byte & 255, offset, latin1, forward, end);
  binding.swap16 = native.swap16;
  binding.swap32 = native.swap32;
  binding.swap64 = native.swap64;
  binding.isUtf8 = (view) => native.isUtf8(attached(view));
  binding.isAscii = (view) => native.isAscii(attached(view));
  binding.copyArrayBuffer = (target, targetStart, source, sourceStart, count) => {
    new Uint8Array(target, targetStart, count).set(new Uint8Array(source, sourceStart, count));
  };
  binding.atob = native.atob;
  binding.btoa = native.btoa;
};

function makeSlice(encoding) {
  return (view, start, end) => {
    // Buffer's own methods usually pass two indexes of a short range. The native clamps the
    // indexes.
    if (isIndex(start) && isIndex(end) && end - start <= SHORT) return native.decode(view, start, end, encoding);
    const length = view.byteLength;
    const from = start === undefined ? 0 : clampIndex(start, length);
    const to = end === undefined ? length : clampIndex(end, length);
    if (to <= from) return '';
    if (charactersOf(to - from, encoding) > MAX_STRING_LENGTH) {
      const message = `Cannot create a string longer than 0x${MAX_STRING_LENGTH.toString(16)} characters`;
      throw coded(new Error(message), 'ERR_STRING_TOO_LONG');
    }
    return native.decode(view, from, to, encoding);
  };
}

// Returns an upper bound of the text's length, because Node checks the length before decoding.
function charactersOf(bytes, encoding) {
  if (encoding === hex) return bytes * 2;
  if (encoding === utf16le) return bytes >> 1;
  return encoding === base64 || encoding === base64url ? Math.ceil((bytes * 4) / 3) : bytes;
}

// Returns the pattern of a fill: a text, bytes or a number. A text that does not fit is converted
// to bytes: the shim writes whole characters, but Node cuts the last character where the space
// ends.
function patternOf(value, encoding = utf8, room) {
  if (typeof value !== 'string') return ArrayBuffer.isView(value) ? value : value >>> 0;
  const text = value;
  if (encoding === utf8 ? native.byteLength(text) <= room : encoding !== utf16le || text.length * 2 <= room) return text;
  return new Uint8Array(native.encode(text, encoding));
}

function makeWrite(encoding) {
  return (view, text, start, count) => {
    if (typeof text !== 'string') throw coded(new TypeError('argument must be a string'), 'ERR_INVALID_ARG_TYPE');
    const offset = isIndex(start) ? start : start === undefined ? 0 : clampIndex(start, Infinity);
    const room = view.byteLength - offset;
    if (room < 0) throw coded(new RangeError('"offset" is outside of buffer bounds'), 'ERR_BUFFER_OUT_OF_BOUNDS');
    let most = room;
    if (count !== undefined && !(isIndex(count) && count >= room)) most = Math.min(room, clampIndex(count, Infinity));
    return most === 0 ? 0 : native.writeString(view, text, offset, most, encoding);
  };
}

const isIndex = (value) => typeof value === 'number' && value >>> 0 === value;

function clampIndex(value, limit) {
  const index = Math.trunc(Number(value)) || 0;
  if (index < 0) throw outOfRange('Index out of range');
  return Math.min(index, limit);
}

// Searches `view` for `needle`. Bytes from the offset `end` on are not searched. Returns the offset
// of the match, or -1.
function indexOf(view, needle, offset, encoding, forward, end) {
  if (end === undefined || end >= view.byteLength) return native.indexOf(view, needle, offset, encoding, forward);
  const start = offset < 0 ? Math.max(offset + view.byteLength, forward ? 0 : -1) : offset;
  if (start < 0) return -1;
  return native.indexOf(new Uint8Array(view.buffer, view.byteOffset, Math.max(end, 0)), needle, start, encoding, forward);
}

function encodingNumber(name) {
  switch (name.toLowerCase()) {
    case 'utf8':
    case 'utf-8':
      return utf8;
    case 'ucs2':
    case 'ucs-2':
    case 'utf16le':
    case 'utf-16le':
      return utf16le;
    case 'binary':
      return latin1;
    default:
      return native.encodings[name.toLowerCase()] ?? utf8;
  }
}

function attached(view) {
  const buffer = ArrayBuffer.isView(view) ? view.buffer : view;
  if (buffer.detached) throw coded(new Error('Cannot validate on a detached buffer'), 'ERR_INVALID_STATE');
  return view;
}

function coded(error, code) {
  error.code = code;
  return error;
}

const outOfRange = (message) => coded(new RangeError(message), 'ERR_OUT_OF_RANGE');
