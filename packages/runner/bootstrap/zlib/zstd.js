// Zstandard streams as Node's library uses them (node_zlib.cc, `ZstdCompressContext` and
// `ZstdDecompressContext`), over engine/shim/library-zstd.c. Next: base.js, which all streams
// share.
'use strict';

const { CompressionHandle, bytesOf, initializationFailed } = require('./base.js');

// The value of a parameter that the program did not set.
const ABSENT = 0xffffffff;
const END = 2;
const Z_BUF_ERROR = -5;
const SRC_SIZE_WRONG = 72;
// ZSTD_ErrorCode of zstd_errors.h, whose values are stable.
const NAMES = {
  1: 'ZSTD_error_GENERIC',
  10: 'ZSTD_error_prefix_unknown',
  12: 'ZSTD_error_version_unsupported',
  14: 'ZSTD_error_frameParameter_unsupported',
  16: 'ZSTD_error_frameParameter_windowTooLarge',
  20: 'ZSTD_error_corruption_detected',
  22: 'ZSTD_error_checksum_wrong',
  24: 'ZSTD_error_literals_headerWrong',
  30: 'ZSTD_error_dictionary_corrupted',
  32: 'ZSTD_error_dictionary_wrong',
  34: 'ZSTD_error_dictionaryCreation_failed',
  40: 'ZSTD_error_parameter_unsupported',
  41: 'ZSTD_error_parameter_combination_unsupported',
  42: 'ZSTD_error_parameter_outOfBound',
  44: 'ZSTD_error_tableLog_tooLarge',
  46: 'ZSTD_error_maxSymbolValue_tooLarge',
  48: 'ZSTD_error_maxSymbolValue_tooSmall',
  50: 'ZSTD_error_stabilityCondition_notRespected',
  60: 'ZSTD_error_stage_wrong',
  62: 'ZSTD_error_init_missing',
  64: 'ZSTD_error_memory_allocation',
  66: 'ZSTD_error_workSpace_tooSmall',
  70: 'ZSTD_error_dstSize_tooSmall',
  72: 'ZSTD_error_srcSize_wrong',
  74: 'ZSTD_error_dstBuffer_null',
  80: 'ZSTD_error_noForwardProgress_destFull',
  82: 'ZSTD_error_noForwardProgress_inputEmpty',
};

class ZstdHandle extends CompressionHandle {
  #stream = native.zstdNew();
  #error = 0;
  #flush = 0;
  #begun = false;
  #frameEnded = false;
  #compresses;
  #pledged;
  #dictionary;

  constructor(compresses) {
    super();
    this.#compresses = compresses;
  }

  init(parameters, pledged, result, callback, dictionary) {
    this.begin(result, callback);
    this.#pledged = pledged;
    this.#dictionary = dictionary === undefined ? undefined : bytesOf(dictionary);
    const problem = this.#open();
    if (problem !== undefined) throw initializationFailed(problem[0]);
    for (let key = 0; key < parameters.length; key++) {
      if (parameters[key] === ABSENT) continue;
      if (!native.zstdParameter(this.#stream, key, parameters[key] | 0)) {
        throw initializationFailed('Setting parameter failed');
      }
    }
  }

  #open() {
    this.#error = 0;
    this.#begun = this.#frameEnded = false;
    if (!native.zstdInit(this.#stream, this.#compresses)) {
      return ['Could not initialize zstd instance', -1, 'ERR_ZLIB_INITIALIZATION_FAILED'];
    }
    if (this.#dictionary !== undefined && !native.zstdDictionary(this.#stream, this.#dictionary)) {
      return ['Failed to load zstd dictionary', -1, 'ERR_ZLIB_DICTIONARY_LOAD_FAILED'];
    }
    if (this.#compresses && typeof this.#pledged === 'number' && !native.zstdPledge(this.#stream, this.#pledged)) {
      return ['Could not set pledged src size', -1, 'ERR_ZLIB_INITIALIZATION_FAILED'];
    }
    return undefined;
  }

  work(flush, input, output, left) {
    this.#flush = flush;
    // Without input this call only ends the stream. After a whole frame the library would begin
    // another frame.
    if (this.#frameEnded && input.byteLength === 0) return;
    if (this.#isOtherThanPledged(input)) {
      this.#error = SRC_SIZE_WRONG;
      return;
    }
    this.#begun = true;
    this.#error = native.zstdRun(this.#stream, input, output, flush, left);
    this.#frameEnded = !this.#compresses && this.left[2] === 0;
  }
  // Returns whether a whole input differs from the pledged size, which the library does not check.
  #isOtherThanPledged(input) {
    return !this.#begun && this.#flush === END && typeof this.#pledged === 'number' && this.#pledged !== input.byteLength;
  }
  problem() {
    if (this.#error === 0) return this.#isCutShort() ? ['unexpected end of file', Z_BUF_ERROR, 'Z_BUF_ERROR'] : undefined;
    return [native.zstdMessage(this.#error), this.#error, NAMES[this.#error] ?? 'ZSTD_error_GENERIC'];
  }

  // Returns whether the input ended inside a frame: the output has space, but there is no more
  // input.
  #isCutShort() {
    return !this.#compresses && this.#flush === END && this.left[0] > 0 && this.left[1] === 0 && this.left[2] !== 0;
  }

  // Zstandard's parameters cannot change within a stream.
  params() {}
  reset() {
    const problem = this.#open();
    if (problem !== undefined) this.fail(problem);
  }
  end() {
    native.zstdEnd(this.#stream);
  }
}

class ZstdCompress extends ZstdHandle {
  constructor() {
    super(true);
  }
}

class ZstdDecompress extends ZstdHandle {
  constructor() {
    super(false);
  }
}

module.exports = { ZstdCompress, ZstdDecompress };
