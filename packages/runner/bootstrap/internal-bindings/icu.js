// The part of ICU that Node's library needs without `Intl` (node_i18n.cc): UTF-16 decoders,
// transcoding, and the width of text in a terminal.
'use strict';

const context = require('../context.js');
const { widthOf } = require('../locale/text-width.js');

const { utf8, utf16le, latin1, ascii } = native.encodings;
const FLUSH = 1;
const FATAL = 2;
const IGNORE_BOM = 4;

module.exports = function icu(binding) {
  binding.icuErrName = () => 'U_ILLEGAL_ARGUMENT_ERROR';
  binding.hasConverter = (name) => /^utf-?16(?:le|be)$/i.test(name);
  binding.getConverter = (name, flags) => {
    if (!binding.hasConverter(name)) return undefined;
    return {
      bigEndian: /be$/i.test(name),
      fatal: (flags & FATAL) !== 0,
      ignoreBom: (flags & IGNORE_BOM) !== 0,
      waiting: [],
      bomSeen: false,
    };
  };
  binding.decode = decode;
  binding.getStringWidth = widthOf;
  binding.transcode = transcode;
};

function decode(converter, input, flags, encodingName) {
  const flush = (flags & FLUSH) !== 0;
  const view = ArrayBuffer.isView(input)
    ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
    : new Uint8Array(input);
  const bytes = Uint8Array.from([...converter.waiting, ...view]);
  converter.waiting = [];
  let end = bytes.length & ~1;
  const odd = end !== bytes.length;
  const highByte = (at) => bytes[converter.bigEndian ? at : at + 1];
  if (!flush) {
    if (end >= 2 && (highByte(end - 2) & 0xfc) === 0xd8) end -= 2;
    converter.waiting = Array.from(bytes.subarray(end));
  }
  if (converter.bigEndian) native.swap16(bytes.subarray(0, end));
  let text = native.decode(bytes, 0, end, utf16le);
  if (converter.fatal && (!text.isWellFormed() || (flush && odd))) {
    converter.bomSeen = false;
    const { ERR_ENCODING_INVALID_ENCODED_DATA } = context.requireBuiltin('internal/errors').codes;
    throw new ERR_ENCODING_INVALID_ENCODED_DATA(encodingName, undefined);
  }
  text = text.toWellFormed();
  if (flush && odd) text += '\ufffd';
  if (!converter.ignoreBom && !converter.bomSeen && text !== '') {
    if (text[0] === '\ufeff') text = text.slice(1);
    converter.bomSeen = true;
  }
  if (flush) converter.bomSeen = false;
  return text;
}

const TRANSCODABLE = {
  __proto__: null,
  ascii,
  latin1,
  binary: latin1,
  utf8,
  'utf-8': utf8,
  ucs2: utf16le,
  'ucs-2': utf16le,
  utf16le,
  'utf-16le': utf16le,
};
const U_ILLEGAL_ARGUMENT_ERROR = 1;

function transcode(source, from, to) {
  const fromEncoding = TRANSCODABLE[from];
  const toEncoding = TRANSCODABLE[to];
  if (fromEncoding === undefined || toEncoding === undefined) return U_ILLEGAL_ARGUMENT_ERROR;
  let text = native.decode(source, 0, source.byteLength, fromEncoding);
  if (toEncoding === ascii || toEncoding === latin1) {
    const most = toEncoding === ascii ? 127 : 255;
    text = Array.from(text, (char) => (char.codePointAt(0) > most ? '?' : char)).join('');
  }
  const bytes = new Uint8Array(native.encode(text, toEncoding));
  return Object.setPrototypeOf(bytes, context.bufferPrototype);
}
