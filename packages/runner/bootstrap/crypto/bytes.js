// Converts the values that Node's C++ accepts as bytes to Uint8Arrays, and encodes requests for the
// kernel, which are sequences of fields. Next: jobs.js, which sends the requests.
'use strict';

// Returns a Uint8Array over an ArrayBufferView, a (Shared)ArrayBuffer or a secret key. Returns an
// empty Uint8Array for undefined and null.
function bytesOf(value) {
  if (value === undefined || value === null) return new Uint8Array(0);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value.secretBytes !== undefined) return value.secretBytes;
  return new Uint8Array(value);
}

// Copies the input of an asynchronous job, because the input must not change while the job runs.
const copyOf = (value) => bytesOf(value).slice();

// Returns a result as Node does: a Buffer whose ArrayBuffer contains only the result.
function toBuffer(bytes) {
  const { bufferPrototype } = require('../context.js');
  const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
  Object.setPrototypeOf(own, bufferPrototype);
  return own;
}

const toArrayBuffer = (bytes) => (bytes.byteLength === bytes.buffer.byteLength ? bytes.buffer : bytes.slice().buffer);

// Encodes a request. Each field is a view, a string (UTF-8), a boolean or an integer; `undefined`
// is the integer -1.
function request(...fields) {
  const encoded = fields.map(encode);
  const bytes = new Uint8Array(encoded.reduce((sum, field) => sum + 4 + field.byteLength, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const field of encoded) {
    view.setUint32(at, field.byteLength, true);
    bytes.set(field, at + 4);
    at += 4 + field.byteLength;
  }
  return bytes;
}

function encode(field) {
  if (typeof field === 'string') return new Uint8Array(native.encode(field, native.encodings.utf8));
  if (typeof field === 'object' && field !== null) return bytesOf(field);
  const number = new DataView(new ArrayBuffer(8));
  number.setBigInt64(0, BigInt(field ?? -1), true);
  return new Uint8Array(number.buffer);
}

// Splits a result of the kernel into its fields.
function fieldsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const fields = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const length = view.getUint32(at, true);
    fields.push(bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return fields;
}

const numberOf = (field) => Number(new DataView(field.buffer, field.byteOffset, 8).getBigInt64(0, true));

module.exports = { bytesOf, copyOf, toBuffer, toArrayBuffer, request, fieldsOf, numberOf };
