// The results of DNS queries, as c-ares passes them to Node's library (cares_wrap.cc). The sources
// are the JSON of the kernel and the records of dns-message.js. Next:
// ../internal-bindings/cares_wrap.js.
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

/** The fields of records in the order of Node, where the order is not alphabetical. */
const FIELDS = {
  __proto__: null,
  Naptr: ['flags', 'service', 'regexp', 'replacement', 'order', 'preference'],
  Soa: ['nsname', 'hostmaster', 'serial', 'refresh', 'retry', 'expire', 'minttl'],
  Tlsa: ['certUsage', 'selector', 'match', 'data'],
};
/** The queries by the type of a record in a result of ANY. */
const QUERIES = { __proto__: null, NAPTR: 'Naptr', SOA: 'Soa', TLSA: 'Tlsa' };
const BYTE = /../g;

const { parse } = JSON;

// Returns the arguments of a query's completion after the error, from the text of the kernel.
// Returns undefined for a text of another shape.
function resultOf(query, text) {
  let records;
  try {
    records = parse(text);
  } catch {
    return undefined;
  }
  return Array.isArray(records) ? resultOfRecords(query, records) : undefined;
}

// Returns the arguments of a query's completion after the error: the records, and for addresses
// the times to live.
function resultOfRecords(query, records) {
  if (query === 'A' || query === 'Aaaa') {
    return [records.map((record) => record?.address), records.map((record) => record?.ttl)];
  }
  const arranged = records.map((record) => arrange(record, query === 'Any' ? QUERIES[record?.type] : query));
  // A name has one SOA record.
  return [query === 'Soa' ? arranged[0] : arranged];
}

// Returns a record with its fields in the order of Node. The certificate data of a TLSA record is
// hexadecimal in JSON, and an ArrayBuffer in Node.
function arrange(record, query) {
  const fields = FIELDS[query];
  if (fields === undefined || typeof record !== 'object' || record === null) return record;
  const arranged = {};
  for (const field of fields) arranged[field] = record[field];
  if (query === 'Tlsa') arranged.data = bytesOf(`${record.data}`).buffer;
  if (record.type !== undefined) arranged.type = record.type;
  return arranged;
}

const bytesOf = (hex) => Uint8Array.from(hex.match(BYTE) ?? [], (byte) => Number.parseInt(byte, 16));

// Returns the name whose PTR record has the name of an address. `bytes` has 4 or 16 bytes.
function reverseName(bytes) {
  if (bytes.length === 4) return `${[...bytes].reverse().join('.')}.in-addr.arpa`;
  const nibbles = [...bytes].flatMap((byte) => [byte >> 4, byte & 15]).reverse();
  return `${nibbles.map((nibble) => nibble.toString(16)).join('.')}.ip6.arpa`;
}

module.exports = { TYPES, resultOf, resultOfRecords, reverseName };
