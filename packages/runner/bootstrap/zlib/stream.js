// A zlib stream as Node's library uses it. The modes, the search for gzip's magic bytes, successive
// members, and the wording of errors are Node's (node_zlib.cc, `ZlibContext`). Next: base.js, which
// all streams share.
'use strict';

const { CompressionHandle, bytesOf } = require('./base.js');

const DEFLATE = 1;
const INFLATE = 2;
const GZIP = 3;
const GUNZIP = 4;
const DEFLATERAW = 5;
const INFLATERAW = 6;
const UNZIP = 7;

const Z_OK = 0;
const Z_STREAM_END = 1;
const Z_NEED_DICT = 2;
const Z_DATA_ERROR = -3;
const Z_BUF_ERROR = -5;
const Z_FINISH = 4;
const CODES = {
  2: 'Z_NEED_DICT',
  '-1': 'Z_ERRNO',
  '-2': 'Z_STREAM_ERROR',
  '-3': 'Z_DATA_ERROR',
  '-4': 'Z_MEM_ERROR',
  '-5': 'Z_BUF_ERROR',
  '-6': 'Z_VERSION_ERROR',
};

const GZIP_ID = [0x1f, 0x8b];
// The additional meanings of zlib's window bits.
const GZIP_WINDOW = 16;
const AUTOMATIC_WINDOW = 32;

const compresses = (mode) => mode === DEFLATE || mode === GZIP || mode === DEFLATERAW;

class ZlibHandle extends CompressionHandle {
  #stream = native.zlibNew();
  #mode;
  #firstMode;
  #settings;
  #dictionary;
  #error = Z_OK;
  #flush = 0;
  #leftBytes;
  #started = false;
  #magicSeen = 0;

  constructor(mode) {
    super();
    this.#mode = this.#firstMode = mode;
  }

  init(windowBits, level, memLevel, strategy, result, callback, dictionary) {
    let window = windowBits;
    if (this.#mode === GZIP || this.#mode === GUNZIP) window += GZIP_WINDOW;
    if (this.#mode === UNZIP) window += AUTOMATIC_WINDOW;
    if (this.#mode === DEFLATERAW || this.#mode === INFLATERAW) window = -window;
    this.#settings = [compresses(this.#mode), level, window, memLevel, strategy];
    this.begin(result, callback);
    this.#dictionary = dictionary === undefined ? undefined : bytesOf(dictionary);
  }

  // Makes zlib's stream at the first use, because many streams are never written to.
  #start() {
    if (this.#started) return;
    this.#started = true;
    this.#error = native.zlibInit(this.#stream, ...this.#settings);
    if (this.#error === Z_OK && this.#dictionary !== undefined) this.#giveDictionary();
  }
  #giveDictionary() {
    // `inflate` requests the dictionary when the data needs the dictionary, but never for a raw
    // stream.
    if (compresses(this.#mode) || this.#mode === INFLATERAW) {
      this.#error = native.zlibDictionary(this.#stream, this.#dictionary);
      if (this.#error !== Z_OK) this.#fail('Failed to set dictionary');
    }
  }

  work(flush, input, output, left) {
    this.#start();
    this.#flush = flush;
    this.#leftBytes = left;
    if (this.#error !== Z_OK && this.#error !== Z_BUF_ERROR && this.#error !== Z_STREAM_END) return;
    if (this.#mode === UNZIP) this.#detect(input);
    this.#step(input, output);
    if (compresses(this.#mode)) return;
    if (this.#error === Z_NEED_DICT && this.#dictionary !== undefined) this.#inflateWithDictionary(input, output);
    while (this.left[1] > 0 && this.#mode === GUNZIP && this.#error === Z_STREAM_END) {
      const rest = input.subarray(input.byteLength - this.left[1]);
      // Zeros may pad a file. Any other byte begins the next member.
      if (rest[0] === 0) break;
      this.#error = native.zlibReset(this.#stream);
      this.#step(rest, output.subarray(output.byteLength - this.left[0]));
    }
  }
  #step(input, output) {
    this.#error = native.zlibRun(this.#stream, input, output, this.#flush, this.#leftBytes);
  }
  #inflateWithDictionary(input, output) {
    this.#error = native.zlibDictionary(this.#stream, this.#dictionary);
    if (this.#error === Z_OK) {
      this.#step(input.subarray(input.byteLength - this.left[1]), output.subarray(output.byteLength - this.left[0]));
    } else if (this.#error === Z_DATA_ERROR) {
      // `problem` has separate messages for a wrong and for a missing dictionary.
      this.#error = Z_NEED_DICT;
    }
  }
  // Detects gzip or zlib by the first two bytes.
  #detect(input) {
    for (let at = 0; at < input.byteLength && this.#magicSeen < GZIP_ID.length; at++) {
      if (input[at] !== GZIP_ID[this.#magicSeen]) {
        this.#mode = INFLATE;
        return;
      }
      this.#magicSeen++;
    }
    if (this.#magicSeen === GZIP_ID.length) this.#mode = GUNZIP;
  }

  problem() {
    const error = this.#error;
    if (error === Z_OK || error === Z_STREAM_END || error === Z_BUF_ERROR) {
      if (error === Z_STREAM_END || this.left[0] === 0 || this.#flush !== Z_FINISH) return undefined;
      return this.#problem('unexpected end of file', Z_BUF_ERROR);
    }
    if (error === Z_NEED_DICT) return this.#problem(this.#dictionary === undefined ? 'Missing dictionary' : 'Bad dictionary');
    return this.#problem('Zlib error');
  }
  #problem(message, error = this.#error) {
    const text = error === Z_BUF_ERROR || error === Z_NEED_DICT ? undefined : native.zlibMessage(this.#stream);
    return [text ?? message, error, CODES[error] ?? 'Z_ERROR'];
  }
  #fail(message) {
    this.fail(this.#problem(message));
  }

  params(level, strategy) {
    this.#start();
    this.#settings[1] = level;
    this.#settings[4] = strategy;
    if (!compresses(this.#mode)) return;
    const error = native.zlibParams(this.#stream, level, strategy);
    if (error !== Z_OK && error !== Z_BUF_ERROR) {
      this.#error = error;
      this.#fail('Failed to set parameters');
    }
  }
  reset() {
    this.#start();
    this.#mode = this.#firstMode;
    this.#magicSeen = 0;
    this.#error = native.zlibReset(this.#stream);
    if (this.#error !== Z_OK) this.#fail('Failed to reset stream');
    else if (this.#dictionary !== undefined) this.#giveDictionary();
  }
  end() {
    native.zlibEnd(this.#stream);
  }
}

module.exports = { ZlibHandle };
