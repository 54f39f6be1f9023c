// The tags of V8's wire format, version 15 (v8/src/objects/value-serializer.cc), which
// `v8.serialize` writes and other Node processes read. Next: writer.js and reader.js.
'use strict';

const code = (char) => char.charCodeAt(0);

const TAGS = {
  VERSION: 0xff,
  PADDING: 0,
  VERIFY_OBJECT_COUNT: code('?'),
  HOLE: code('-'),
  UNDEFINED: code('_'),
  NULL: code('0'),
  TRUE: code('T'),
  FALSE: code('F'),
  INT32: code('I'),
  UINT32: code('U'),
  DOUBLE: code('N'),
  BIGINT: code('Z'),
  UTF8_STRING: code('S'),
  ONE_BYTE_STRING: code('"'),
  TWO_BYTE_STRING: code('c'),
  REFERENCE: code('^'),
  OBJECT: code('o'),
  END_OBJECT: code('{'),
  SPARSE_ARRAY: code('a'),
  END_SPARSE_ARRAY: code('@'),
  DENSE_ARRAY: code('A'),
  END_DENSE_ARRAY: code('$'),
  DATE: code('D'),
  TRUE_OBJECT: code('y'),
  FALSE_OBJECT: code('x'),
  NUMBER_OBJECT: code('n'),
  BIGINT_OBJECT: code('z'),
  STRING_OBJECT: code('s'),
  REGEXP: code('R'),
  MAP: code(';'),
  END_MAP: code(':'),
  SET: code("'"),
  END_SET: code(','),
  ARRAY_BUFFER: code('B'),
  RESIZABLE_ARRAY_BUFFER: code('~'),
  ARRAY_BUFFER_TRANSFER: code('t'),
  SHARED_ARRAY_BUFFER: code('u'),
  VIEW: code('V'),
  HOST_OBJECT: code('\\'),
  ERROR: code('r'),
};

const VERSION = 15;

/** Tag of a view → its class. */
const VIEWS = {
  b: 'Int8Array',
  B: 'Uint8Array',
  C: 'Uint8ClampedArray',
  w: 'Int16Array',
  W: 'Uint16Array',
  d: 'Int32Array',
  D: 'Uint32Array',
  h: 'Float16Array',
  f: 'Float32Array',
  F: 'Float64Array',
  q: 'BigInt64Array',
  Q: 'BigUint64Array',
  '?': 'DataView',
};

/** Tag of an error's prototype → its class. `Error` itself has no tag. */
const ERRORS = { E: 'EvalError', R: 'RangeError', F: 'ReferenceError', S: 'SyntaxError', T: 'TypeError', U: 'URIError' };

/** Flags of a regular expression in the order of their bits; only V8 has the flag `l`. */
const REGEXP_FLAGS = ['g', 'i', 'm', 'y', 'u', 's', 'l', 'd', 'v'];

module.exports = { TAGS, VERSION, VIEWS, ERRORS, REGEXP_FLAGS };
