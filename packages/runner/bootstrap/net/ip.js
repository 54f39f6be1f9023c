// Converts IP addresses between texts and bytes (inet_pton, inet_ntop). IPv6 texts have libuv's
// form (RFC 5952). Next: ../internal-bindings/block_list.js and cares_wrap.js.
'use strict';

const V4_PART = /^(?:0|[1-9]\d{0,2})$/;
const V6_PART = /^[0-9a-f]{1,4}$/i;

// Returns the 4 bytes of an IPv4 address, or undefined if `text` is invalid.
function parseV4(text) {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (let i = 0; i < 4; i++) {
    const part = Number(parts[i]);
    if (!V4_PART.test(parts[i]) || part > 255) return undefined;
    bytes[i] = part;
  }
  return bytes;
}

// Returns the 16 bytes of an IPv6 address, or undefined if `text` is invalid.
function parseV6(text) {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const groups = halves.map((half, index) => groupsOf(half, index === halves.length - 1));
  if (groups.includes(undefined)) return undefined;
  const known = groups[0].length + (groups[1]?.length ?? 0);
  if (halves.length === 1 ? known !== 8 : known > 7) return undefined;
  const all = halves.length === 1 ? groups[0] : [...groups[0], ...new Array(8 - known).fill(0), ...groups[1]];
  const bytes = new Uint8Array(16);
  for (let i = 0; i < 8; i++) {
    bytes[i * 2] = all[i] >> 8;
    bytes[i * 2 + 1] = all[i] & 255;
  }
  return bytes;
}

function groupsOf(half, last) {
  if (half === '') return [];
  const groups = [];
  const parts = half.split(':');
  for (let i = 0; i < parts.length; i++) {
    if (V6_PART.test(parts[i])) {
      groups.push(Number.parseInt(parts[i], 16));
      continue;
    }
    const v4 = last && i === parts.length - 1 ? parseV4(parts[i]) : undefined;
    if (v4 === undefined) return undefined;
    groups.push((v4[0] << 8) | v4[1], (v4[2] << 8) | v4[3]);
  }
  return groups;
}

function format(bytes) {
  if (bytes.length === 4) return bytes.join('.');
  const groups = [];
  for (let i = 0; i < 16; i += 2) groups.push((bytes[i] << 8) | bytes[i + 1]);
  // The longest run of at least two zero groups is written as `::`.
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const mapped = best.start === 0 && (best.length === 6 || (best.length === 5 && groups[5] === 0xffff));
  const tail = mapped ? [...groups.slice(0, 6).map(hex), [...bytes.subarray(12)].join('.')] : groups.map(hex);
  if (best.start < 0) return tail.join(':');
  return `${tail.slice(0, best.start).join(':')}::${tail.slice(best.start + best.length).join(':')}`;
}

const hex = (group) => group.toString(16);
const parse = (text) => parseV4(text) ?? parseV6(text);

module.exports = { parse, parseV4, parseV6, format };
