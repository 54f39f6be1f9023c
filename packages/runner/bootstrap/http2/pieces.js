// Divides an output of nghttp2 into the pieces in which Node writes it. Each frame is a piece. The
// header, the padding length, the data and the padding of a DATA frame are pieces of their own.
// Only a stream of the program sees the pieces of a write. Next: transport.js.
'use strict';

// The first byte and the length of a client's preface (`PRI * HTTP/2.0 ...`). No frame begins with
// this byte, because nghttp2 sends no frame of 5 MB or more.
const PREFACE_BYTE = 0x50;
const PREFACE_BYTES = 24;
const HEADER_BYTES = 9;
const TYPE = 3;
const FLAGS = 4;
const DATA = 0;
const PADDED = 8;

function piecesOf(bytes) {
  const pieces = [];
  let at = 0;
  const take = (length) => {
    if (length > 0) pieces.push(bytes.subarray(at, at + length));
    at += length;
  };
  if (bytes[0] === PREFACE_BYTE) take(PREFACE_BYTES);
  while (at < bytes.length) {
    const length = (bytes[at] << 16) | (bytes[at + 1] << 8) | bytes[at + 2];
    if (bytes[at + TYPE] !== DATA) {
      take(HEADER_BYTES + length);
      continue;
    }
    const isPadded = (bytes[at + FLAGS] & PADDED) !== 0;
    take(HEADER_BYTES);
    const padding = isPadded ? bytes[at] : 0;
    if (isPadded) take(1);
    take(length - padding - (isPadded ? 1 : 0));
    take(padding);
  }
  return pieces;
}

module.exports = { piecesOf };
