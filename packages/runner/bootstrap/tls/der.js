// Reads DER, the encoding of certificates. A wrong encoding throws. Next: certificate.js.
'use strict';

const SEQUENCE = 0x30;
const SET = 0x31;
const CONTEXT = 0xa0;
const { latin1, utf8, utf16le } = native.encodings;

class DerError extends Error {}

// Returns the element at `at`: its tag, the positions of its content, and its end.
function elementAt(bytes, at, limit = bytes.length) {
  if (at + 2 > limit) throw new DerError('a truncated element');
  let length = bytes[at + 1];
  let start = at + 2;
  if (length >= 0x80) {
    const count = length & 0x7f;
    if (count === 0 || count > 4 || start + count > limit) throw new DerError('a wrong length');
    length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + bytes[start++];
  }
  const end = start + length;
  if (end > limit) throw new DerError('a truncated element');
  return { tag: bytes[at], at, start, end, bytes };
}

// Returns the elements inside an element.
function childrenOf({ bytes, start, end }) {
  const found = [];
  for (let at = start; at < end; ) {
    const element = elementAt(bytes, at, end);
    found.push(element);
    at = element.end;
  }
  return found;
}

const contentOf = ({ bytes, start, end }) => bytes.subarray(start, end);
const wholeOf = ({ bytes, at, end }) => bytes.subarray(at, end);

function oidOf(element) {
  const bytes = contentOf(element);
  const parts = [];
  let value = 0;
  for (const byte of bytes) {
    value = value * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    if (parts.length === 0) parts.push(Math.min(2, Math.floor(value / 40)), value - 40 * Math.min(2, Math.floor(value / 40)));
    else parts.push(value);
    value = 0;
  }
  return parts.join('.');
}

const decode = (bytes, encoding) => native.decode(bytes, 0, bytes.length, encoding);

// Returns the text of a string of any type.
function textOf(element) {
  const bytes = contentOf(element);
  if (element.tag === 0x0c) return decode(bytes, utf8);
  if (element.tag !== 0x1e) return decode(bytes, latin1);
  const swapped = bytes.slice();
  for (let i = 0; i + 1 < swapped.length; i += 2) [swapped[i], swapped[i + 1]] = [swapped[i + 1], swapped[i]];
  return decode(swapped, utf16le);
}

// Returns the milliseconds of a UTCTime or GeneralizedTime.
function timeOf(element) {
  let text = textOf(element);
  if (element.tag === 0x17) text = `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}`;
  const [year, month, day, hour, minute, second] = [0, 4, 6, 8, 10, 12].map((at, i) =>
    Number(text.slice(at, at + (i === 0 ? 4 : 2))),
  );
  return Date.UTC(year, month - 1, day, hour, minute, second || 0);
}

const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join('');

// Returns an unsigned integer as hexadecimal digits in capitals.
function integerOf(element) {
  const bytes = contentOf(element);
  const digits = hexOf(bytes.length > 1 && bytes[0] === 0 ? bytes.subarray(1) : bytes);
  return digits === '00' ? '0' : digits;
}

module.exports = {
  SEQUENCE,
  SET,
  CONTEXT,
  DerError,
  elementAt,
  childrenOf,
  contentOf,
  wholeOf,
  oidOf,
  textOf,
  timeOf,
  hexOf,
  integerOf,
};
