// Brotli streams as Node's library uses them (node_zlib.cc, `BrotliEncoderContext` and
// `BrotliDecoderContext`), over engine/shim/library-brotli.c. Next: base.js, which all streams
// share.
'use strict';

const { CompressionHandle, bytesOf, initializationFailed } = require('./base.js');

// The value of a parameter that the program did not set.
const ABSENT = 0xffffffff;
const FINISH = 2;
const NEEDS_MORE_INPUT = 2;
const Z_BUF_ERROR = -5;

class BrotliHandle extends CompressionHandle {
  stream = native.brotliNew();
  result = 1;
  flush = 0;
  #encodes;
  #dictionary;

  constructor(encodes) {
    super();
    this.#encodes = encodes;
  }

  init(parameters, result, callback, dictionary) {
    this.begin(result, callback);
    this.#dictionary = dictionary === undefined ? undefined : bytesOf(dictionary);
    if (this.#open() !== undefined) throw initializationFailed();
    for (let key = 0; key < parameters.length; key++) {
      if (parameters[key] === ABSENT) continue;
      if (!native.brotliParameter(this.stream, key, parameters[key])) throw initializationFailed();
    }
  }

  #open() {
    if (!native.brotliInit(this.stream, this.#encodes)) {
      return ['Could not initialize Brotli instance', -1, 'ERR_ZLIB_INITIALIZATION_FAILED'];
    }
    const problem = this.#dictionary === undefined ? 0 : native.brotliDictionary(this.stream, this.#dictionary);
    if (problem === 0) return undefined;
    return [`Failed to ${problem === 1 ? 'prepare' : 'attach'} brotli dictionary`, -1, 'ERR_ZLIB_DICTIONARY_LOAD_FAILED'];
  }

  work(flush, input, output, left) {
    this.flush = flush;
    this.result = native.brotliRun(this.stream, input, output, flush, left);
  }

  // Brotli's parameters cannot change within a stream.
  params() {}
  reset() {
    const problem = this.#open();
    if (problem !== undefined) this.fail(problem);
  }
  end() {
    native.brotliEnd(this.stream);
  }
}

class BrotliEncoder extends BrotliHandle {
  constructor() {
    super(true);
  }
  problem() {
    return this.result === 0 ? ['Compression failed', -1, 'ERR_BROTLI_COMPRESSION_FAILED'] : undefined;
  }
}

class BrotliDecoder extends BrotliHandle {
  constructor() {
    super(false);
  }
  problem() {
    if (this.result === 0) {
      const [code, name] = native.brotliError(this.stream);
      return ['Decompression failed', code, `ERR_${name}`];
    }
    if (this.flush === FINISH && this.result === NEEDS_MORE_INPUT) return ['unexpected end of file', Z_BUF_ERROR, 'Z_BUF_ERROR'];
    return undefined;
  }
}

module.exports = { BrotliDecoder, BrotliEncoder };
