// The results of DNS queries, from the JSON of the kernel to the values that c-ares passes to
// Node's library (cares_wrap.cc). Next: ../internal-bindings/cares_wrap.js.
'use strict';

/** The numbers of the record types, by the name of the binding's query. */
const TYPES = {
  __proto__: null,
  A: 1,
  Ns: 2,
  Cname: 5,
  Soa: 6,
  Ptr: 12,
  Mx: 15,
  Txt: 16,
  Aaaa: 28,
  Srv: 33,
  Naptr: 35,
  Tlsa: 52,
  Any: 255,
  Caa: 257,
};

const { parse } = JSON;

// Returns the arguments of a query's completion after the error: the records, and for addresses
// the times to live. Returns undefined for a text of another shape.
function resultOf(query, text) {
  let records;
  try {
    records = parse(text);
  } catch {
    return undefined;
  }
  if (query === 'Soa')
    return typeof records === 'object' && records !== null ? [Array.isArray(records) ? records[0] : records] : undefined;
  if (!Array.isArray(records)) return undefined;
  if (query === 'A' || query === 'Aaaa') {
    const addresses = records.map((record) => (typeof record === 'string' ? record : record?.address));
    return [addresses, records.map((record) => record?.ttl ?? 0)];
  }
  if (query === 'Tlsa' || query === 'Any') for (const record of records) restoreBytes(record);
  return [records];
}

// The certificate data of a TLSA record is a list of bytes in JSON, and an ArrayBuffer in Node.
function restoreBytes(record) {
  if (Array.isArray(record?.data)) record.data = Uint8Array.from(record.data).buffer;
}

// Returns the name whose PTR record has the name of an address. `bytes` has 4 or 16 bytes.
function reverseName(bytes) {
  if (bytes.length === 4) return `${[...bytes].reverse().join('.')}.in-addr.arpa`;
  const nibbles = [...bytes].flatMap((byte) => [byte >> 4, byte & 15]).reverse();
  return `${nibbles.map((nibble) => nibble.toString(16)).join('.')}.ip6.arpa`;
}

module.exports = { TYPES, resultOf, reverseName };
