// What: the host of a URL: domain, IPv4, IPv6 or opaque.
// Limits: names outside ASCII are lowered, normalised (NFC) and turned to punycode; the full mapping tables of UTS 46 (700 kB) are not here.
// Next: parser.js.
'use strict';

const { C0, percentEncode, percentDecode } = require('./encode.js');
const { toASCII } = require('./punycode.js');

const FORBIDDEN_HOST = /[\0\t\n\r #/:<>?@[\\\]^|]/;
const FORBIDDEN_DOMAIN = /[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/;

// The serialised host, or undefined when it is not one.
function parseHost(input, special) {
  if (input.startsWith('[')) {
    if (!input.endsWith(']')) return undefined;
    const pieces = parseIPv6(input.slice(1, -1));
    return pieces === undefined ? undefined : `[${serializeIPv6(pieces)}]`;
  }
  if (!special) return FORBIDDEN_HOST.test(input) ? undefined : percentEncode(input, C0);
  const domain = toASCII(percentDecode(input));
  if (domain === undefined || domain === '' || FORBIDDEN_DOMAIN.test(domain)) return undefined;
  return endsInNumber(domain) ? parseIPv4(domain) : domain;
}

function endsInNumber(domain) {
  const parts = domain.split('.');
  if (parts.at(-1) === '' && parts.length > 1) parts.pop();
  const last = parts.at(-1);
  return /^[0-9]+$/.test(last) || /^0[xX][0-9a-fA-F]*$/.test(last);
}

function parseIPv4(domain) {
  const parts = domain.split('.');
  if (parts.at(-1) === '' && parts.length > 1) parts.pop();
  if (parts.length > 4) return undefined;
  const numbers = parts.map(parseIPv4Number);
  if (numbers.includes(undefined)) return undefined;
  const last = numbers.pop();
  if (numbers.some((number) => number > 255) || last >= 256 ** (4 - numbers.length)) return undefined;
  let address = last;
  numbers.forEach((number, index) => {
    address += number * 256 ** (3 - index);
  });
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}

function parseIPv4Number(text) {
  if (text === '') return undefined;
  if (/^0[xX][0-9a-fA-F]*$/.test(text)) return text.length === 2 ? 0 : Number.parseInt(text.slice(2), 16);
  if (/^0[0-7]+$/.test(text)) return Number.parseInt(text, 8);
  return /^(0|[1-9][0-9]*)$/.test(text) ? Number(text) : undefined;
}

function parseIPv6(text) {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const lists = halves.map((half) => (half === '' ? [] : half.split(':')));
  const tail = lists.at(-1);
  if (tail.length > 0 && tail.at(-1).includes('.')) {
    const address = tail.pop();
    if (!/^(\d{1,3}\.){3}\d{1,3}$/.test(address)) return undefined;
    const bytes = address.split('.');
    if (bytes.some((byte) => Number(byte) > 255 || (byte.length > 1 && byte[0] === '0'))) return undefined;
    tail.push((bytes[0] * 256 + Number(bytes[1])).toString(16), (bytes[2] * 256 + Number(bytes[3])).toString(16));
  }
  const valid = (piece) => /^[0-9a-fA-F]{1,4}$/.test(piece);
  if (!lists.every((list) => list.every(valid))) return undefined;
  const count = lists.reduce((sum, list) => sum + list.length, 0);
  if (lists.length === 1 ? count !== 8 : count > 7) return undefined;
  const pieces = [...lists[0]];
  if (lists.length === 2) pieces.push(...Array(8 - count).fill('0'), ...lists[1]);
  return pieces.map((piece) => Number.parseInt(piece, 16));
}

function serializeIPv6(pieces) {
  let bestStart = -1;
  let bestLength = 1;
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && pieces[start + length] === 0) length++;
    if (length > bestLength) {
      bestStart = start;
      bestLength = length;
    }
  }
  const hex = pieces.map((piece) => piece.toString(16));
  if (bestStart === -1) return hex.join(':');
  return `${hex.slice(0, bestStart).join(':')}::${hex.slice(bestStart + bestLength).join(':')}`;
}

module.exports = { parseHost };
