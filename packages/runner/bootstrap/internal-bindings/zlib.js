// The zlib binding (node_zlib.cc) over the libraries zlib, Brotli and Zstandard, which are C code
// in the guest (engine/shim/library-*.c). In the guest, a stream's window and tables are memory of
// the process: limited, freed and snapshotted with the process. Next: ../zlib/base.js.
'use strict';

const { BrotliDecoder, BrotliEncoder } = require('../zlib/brotli.js');
const { ZlibHandle } = require('../zlib/stream.js');
const { ZstdCompress, ZstdDecompress } = require('../zlib/zstd.js');

module.exports = function zlib(binding) {
  Object.assign(binding, { Zlib: ZlibHandle, BrotliDecoder, BrotliEncoder, ZstdCompress, ZstdDecompress });
  binding.crc32 = (data, value = 0) =>
    native.crc32(typeof data === 'string' ? new Uint8Array(native.encode(data, native.encodings.utf8)) : bytesOf(data), value);
};

const bytesOf = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
