// DNS messages in wire format (RFC 1035): makes queries, and reads responses into the records that
// dns-records.js arranges for Node's library. Every read is bounded, because the sender of a
// response is not trusted. Next: loopback-resolver.js.
'use strict';

const { format } = require('./ip.js');

const HEADER_SIZE = 12;
const MAX_LABEL = 63;
const MAX_NAME = 255;
const INTERNET = 1;
const IS_RESPONSE = 0x8000;
const IS_TRUNCATED = 0x0200;
const RECURSION_DESIRED = 0x0100;
const RESPONSE_CODE = 0x000f;
const POINTER = 0xc0;

const { decode, encode, encodings } = native;
const latin1 = (bytes) => decode(bytes, 0, bytes.byteLength, encodings.latin1);
const bytesOf = (text) => new Uint8Array(encode(text, encodings.latin1));
const hex = (bytes) => decode(bytes, 0, bytes.byteLength, encodings.hex);

// Characters that have a meaning in the text form of names, and characters that cannot be printed.
const SPECIAL = /[.\\"();@$]/g;
const UNPRINTABLE = /[^!-~]/g;
const escapeLabel = (label) =>
  label.replace(SPECIAL, '\\$&').replace(UNPRINTABLE, (character) => `\\${`${character.charCodeAt(0)}`.padStart(3, '0')}`);

// Returns the labels of a name, or undefined if the name is invalid. A backslash escapes a
// character or precedes the three digits of a byte.
function labelsOf(name) {
  const labels = [''];
  for (const [part] of name.matchAll(/\\\d{3}|\\?./gs)) {
    if (part === '.') {
      if (labels.at(-1) === '') return undefined;
      labels.push('');
      continue;
    }
    const code = part.length === 4 ? Number(part.slice(1)) : part.charCodeAt(part.length - 1);
    if (part === '\\' || code > 255) return undefined;
    labels[labels.length - 1] += String.fromCharCode(code);
    if (labels.at(-1).length > MAX_LABEL) return undefined;
  }
  // A dot at the end has no effect. The empty name is the root.
  if (labels.at(-1) === '') labels.pop();
  return labels.reduce((size, label) => size + label.length + 1, 1) <= MAX_NAME ? labels : undefined;
}

/** Returns the message of a query, or undefined if the name is invalid. */
function queryOf(id, name, type) {
  const labels = name === '.' ? [] : labelsOf(name);
  if (labels === undefined) return undefined;
  const header = [id >> 8, id & 255, RECURSION_DESIRED >> 8, 0, 0, 1, 0, 0, 0, 0, 0, 0];
  const body = labels.flatMap((label) => [label.length, ...bytesOf(label)]);
  return Uint8Array.from([...header, ...body, 0, type >> 8, type & 255, 0, INTERNET]);
}

class Malformed extends Error {}

class Reader {
  #bytes;
  #view;
  constructor(bytes) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
    this.end = bytes.length;
  }
  #take(count) {
    const { at } = this;
    if (at + count > this.end) throw new Malformed();
    this.at += count;
    return at;
  }
  u8() {
    return this.#view.getUint8(this.#take(1));
  }
  u16() {
    return this.#view.getUint16(this.#take(2));
  }
  u32() {
    return this.#view.getUint32(this.#take(4));
  }
  bytes(count) {
    const at = this.#take(count);
    return this.#bytes.slice(at, at + count);
  }
  rest() {
    return this.bytes(this.end - this.at);
  }
  // A text with a byte for its length.
  text() {
    return latin1(this.bytes(this.u8()));
  }
  name() {
    const labels = [];
    let size = 0;
    let { at } = this;
    // A pointer must point before the name that contains the pointer, so the loop ends.
    let limit = at;
    let after;
    for (;;) {
      if (at >= this.#bytes.length) throw new Malformed();
      const length = this.#bytes[at];
      if (length >= POINTER) {
        if (at + 1 >= this.#bytes.length) throw new Malformed();
        const target = ((length & ~POINTER) << 8) | this.#bytes[at + 1];
        after ??= at + 2;
        if (target >= limit) throw new Malformed();
        at = target;
        limit = target;
        continue;
      }
      size += length + 1;
      if (length > MAX_LABEL || size > MAX_NAME || at + 1 + length > this.#bytes.length) throw new Malformed();
      at += 1 + length;
      if (length === 0) break;
      labels.push(escapeLabel(latin1(this.#bytes.slice(at - length, at))));
    }
    this.at = after ?? at;
    if (this.at > this.end) throw new Malformed();
    return labels.join('.');
  }
}

// Returns the fields of an address record.
const address = (size) => (reader, ttl) => ({ address: format(reader.bytes(size)), ttl });
// Returns the field of a record with one name.
const target = (reader) => ({ value: reader.name() });

/** The name and the reader of each type's data, in the order of Node's results of ANY. */
const DATA = new Map([
  [1, ['A', address(4)]],
  [5, ['CNAME', target]],
  [28, ['AAAA', address(16)]],
  [15, ['MX', (reader) => ({ priority: reader.u16(), exchange: reader.name() })]],
  [2, ['NS', target]],
  [
    16,
    [
      'TXT',
      (reader) => {
        const entries = [];
        while (reader.at < reader.end) entries.push(reader.text());
        return { entries };
      },
    ],
  ],
  [33, ['SRV', (reader) => ({ priority: reader.u16(), weight: reader.u16(), port: reader.u16(), name: reader.name() })]],
  [12, ['PTR', target]],
  [
    35,
    [
      'NAPTR',
      (reader) => ({
        order: reader.u16(),
        preference: reader.u16(),
        flags: reader.text(),
        service: reader.text(),
        regexp: reader.text(),
        replacement: reader.name(),
      }),
    ],
  ],
  [
    6,
    [
      'SOA',
      (reader) => ({
        nsname: reader.name(),
        hostmaster: reader.name(),
        serial: reader.u32(),
        refresh: reader.u32(),
        retry: reader.u32(),
        expire: reader.u32(),
        minttl: reader.u32(),
      }),
    ],
  ],
  [
    257,
    [
      'CAA',
      (reader) => {
        const critical = reader.u8();
        const tag = reader.text();
        return { critical, [tag]: latin1(reader.rest()) };
      },
    ],
  ],
  [52, ['TLSA', (reader) => ({ certUsage: reader.u8(), selector: reader.u8(), match: reader.u8(), data: hex(reader.rest()) })]],
]);
const RANKS = [...DATA.keys()];
const CNAME = 5;
const ANY = 255;

// Reads one record. Returns undefined for a type that Node does not know.
function recordOf(reader) {
  reader.name();
  const type = reader.u16();
  const isInternet = reader.u16() === INTERNET;
  const ttl = reader.u32();
  const size = reader.u16();
  const last = reader.end;
  const end = reader.at + size;
  if (end > last) throw new Malformed();
  reader.end = end;
  const [kind, read] = (isInternet && DATA.get(type)) || [];
  const fields = read === undefined ? reader.rest() : read(reader, ttl);
  if (reader.at !== end) throw new Malformed();
  reader.end = last;
  return kind === undefined ? undefined : { type, kind, ttl, fields };
}

/**
 * Reads the response to `query`, a message of `queryOf`. Returns undefined if the bytes are no
 * response to the query, else `{ isTruncated, code, records }`.
 */
function responseOf(bytes, query) {
  const reader = new Reader(bytes);
  try {
    const sent = new Reader(query);
    if (reader.u16() !== sent.u16()) return undefined;
    const flags = reader.u16();
    const questions = reader.u16();
    const answers = reader.u16();
    reader.at = HEADER_SIZE;
    sent.at = HEADER_SIZE;
    if ((flags & IS_RESPONSE) === 0 || questions !== 1) return undefined;
    // Names are equal in upper and lower case.
    if (reader.name().toLowerCase() !== sent.name().toLowerCase()) return undefined;
    if (reader.u32() !== sent.u32()) return undefined;
    const result = { isTruncated: (flags & IS_TRUNCATED) !== 0, code: flags & RESPONSE_CODE, records: [] };
    if (result.isTruncated) return result;
    for (let i = 0; i < answers; i++) {
      const record = recordOf(reader);
      if (record !== undefined) result.records.push(record);
    }
    return result;
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

/**
 * Returns the records of a type in the shape of the kernel's results (dns-records.js). The number
 * 255 selects all records.
 */
function select(records, type) {
  if (type === ANY) {
    const ranked = records.toSorted((one, other) => RANKS.indexOf(one.type) - RANKS.indexOf(other.type));
    return ranked.map(({ kind, fields }) => ({ ...fields, type: kind }));
  }
  // An address is valid as long as the aliases that lead to the address.
  const least = Math.min(...records.filter((record) => record.type === CNAME).map(({ ttl }) => ttl));
  return records
    .filter((record) => record.type === type)
    .map(({ fields }) => {
      if (fields.address !== undefined) return { ...fields, ttl: Math.min(fields.ttl, least) };
      return fields.value ?? fields.entries ?? fields;
    });
}

module.exports = { queryOf, responseOf, select };
