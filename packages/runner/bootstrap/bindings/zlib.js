// What: the zlib binding (node_zlib.cc) over zlib itself, which is C in the guest (engine/shim/library-zlib.c).
// Why in the guest: a stream's window and tables are then memory of the process: limited, stopped and saved with it.
// Brotli and Zstandard are not here yet: their classes throw at use.
// Next: ../zlib/stream.js.
'use strict';

const { ZlibHandle } = require('../zlib/stream.js');

module.exports = function zlib(binding) {
  binding.Zlib = ZlibHandle;
  binding.crc32 = (data, value = 0) =>
    native.crc32(typeof data === 'string' ? new Uint8Array(native.encode(data, native.encodings.utf8)) : bytesOf(data), value);
};

const bytesOf = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
