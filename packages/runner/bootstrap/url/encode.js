// What: percent-encoding with the URL standard's sets. A set is a string of the ASCII characters that it adds to the C0 controls and to
// everything above `~`.
'use strict';

const C0 = '';
const FRAGMENT = ' "<>`';
const QUERY = ' "#<>';
const SPECIAL_QUERY = `${QUERY}'`;
const PATH = `${QUERY}?^\`{}`;
const USERINFO = `${PATH}/:;=@[\\]|`;

const HEX = '0123456789ABCDEF';

function percentEncode(text, set) {
  let plain = true;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code > 0x7e || set.includes(text[i])) {
      plain = false;
      break;
    }
  }
  return plain ? text : encodeSlowly(text, set);
}

function encodeSlowly(text, set) {
  const bytes = new Uint8Array(native.encode(text, native.encodings.utf8));
  let encoded = '';
  for (const byte of bytes) {
    const char = String.fromCharCode(byte);
    if (byte < 0x20 || byte > 0x7e || set.includes(char)) encoded += `%${HEX[byte >> 4]}${HEX[byte & 15]}`;
    else encoded += char;
  }
  return encoded;
}

function percentDecode(text) {
  if (!text.includes('%')) return text;
  const bytes = new Uint8Array(native.encode(text, native.encodings.utf8));
  const decoded = new Uint8Array(bytes.length);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const pair = bytes[i] === 0x25 ? String.fromCharCode(bytes[i + 1], bytes[i + 2]) : '';
    if (/^[0-9a-fA-F]{2}$/.test(pair)) {
      decoded[length++] = Number.parseInt(pair, 16);
      i += 2;
    } else {
      decoded[length++] = bytes[i];
    }
  }
  return native.decode(decoded, 0, length, native.encodings.utf8);
}

module.exports = { C0, FRAGMENT, QUERY, SPECIAL_QUERY, PATH, USERINFO, percentEncode, percentDecode };
