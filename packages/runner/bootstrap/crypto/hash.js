// Digests and message authentication codes: the classes `Hash` and `Hmac`, and `oneShotDigest`. A
// short first piece of data is not sent at once, because most programs pass data to a digest once.
// If no more data follows, one system call computes the whole digest, without a context in the
// kernel. Next: digests.js, which has the names; system.js, which makes the calls.
'use strict';

const { bytesOf, toBuffer } = require('./bytes.js');
const { digestById, digestNamed } = require('./digests.js');
const { coded, opensslError } = require('./faults.js');
const system = require('./system.js');

const { utf8 } = native.encodings;
// A string of this many UTF-16 units has at most MAX_CHUNK bytes as UTF-8.
const SHORT_STRING = Math.floor(system.MAX_CHUNK / 3);
const HELD_BACK = 16_384;

const EMPTY = '';

function encodingOf(name) {
  if (name === undefined || name === 'utf8' || name === 'utf-8') return utf8;
  const number = native.encodings[name] ?? native.encodings[`${name}`.toLowerCase().replace('-', '')];
  if (number !== undefined) return number;
  return { binary: native.encodings.latin1, ucs2: native.encodings.utf16le }[`${name}`.toLowerCase().replace('-', '')] ?? utf8;
}

// Returns `bytes` as a string in `encoding`, or as a Buffer if no encoding is given.
function encoded(bytes, encoding) {
  if (encoding === undefined || encoding === '' || encoding === false || encoding === 'buffer') return toBuffer(bytes);
  return native.decode(bytes, 0, bytes.length, encodingOf(encoding));
}

// The data of a digest. `piece` stores one short piece. More data is sent to a context of the
// kernel.
class Feed {
  piece = EMPTY;
  handle = 0;

  update(data, encoding, open) {
    if (typeof data === 'string') {
      const isText = encodingOf(encoding) === utf8;
      if (isText && this.handle === 0 && this.piece === EMPTY && data.length <= SHORT_STRING) {
        this.piece = data;
        return;
      }
      data = new Uint8Array(native.encode(data, encodingOf(encoding)));
    } else {
      data = bytesOf(data);
      if (this.handle === 0 && this.piece === EMPTY && data.length <= HELD_BACK) {
        this.piece = data.slice();
        return;
      }
    }
    this.flush(open);
    system.update(this.handle, data);
  }

  flush(open) {
    if (this.handle !== 0) return;
    this.handle = open();
    const { piece } = this;
    this.piece = EMPTY;
    if (piece !== EMPTY)
      system.update(this.handle, typeof piece === 'string' ? new Uint8Array(native.encode(piece, utf8)) : piece);
  }
}

const notExtendable = () => opensslError('030000B2', 'digital envelope routines', 'not XOF or invalid length');

class Hash {
  #digest;
  #length;
  #feed = new Feed();
  #result;

  constructor(algorithm, length, id) {
    if (algorithm instanceof Hash) {
      this.#digest = algorithm.#digest;
      this.#copyFrom(algorithm.#feed);
    } else {
      this.#digest = digestById(id) ?? digestNamed(algorithm);
      if (this.#digest === undefined) throw new Error('Digest method not supported');
    }
    this.#length = length ?? this.#digest.length;
    if (this.#length === this.#digest.length || this.#digest.extendable) return;
    throw notExtendable();
  }

  #copyFrom(feed) {
    this.#feed.piece = feed.piece;
    if (feed.handle !== 0) this.#feed.handle = system.copy(this, feed.handle);
  }

  update(data, encoding) {
    this.#feed.update(data, encoding, () => system.openHash(this, this.#digest.id));
    return true;
  }

  digest(encoding) {
    this.#result ??= this.#finish();
    return encoded(encoding === undefined || encoding === 'buffer' ? this.#result.slice() : this.#result, encoding);
  }

  #finish() {
    const { piece, handle } = this.#feed;
    if (this.#length === 0) return new Uint8Array(0);
    if (handle === 0) return system.digest(this.#digest.id, piece, this.#length);
    this.#feed.handle = 0;
    return system.finish(handle, this.#length);
  }
}

function invalidDigest(name) {
  return coded(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`);
}

// Returns `key`, or the digest of a key that is too long for a system call. HMAC digests every key
// that is longer than a block.
function keyFor(digest, key) {
  return key.length <= system.MAX_CHUNK ? key : digestOf(digest, key);
}

class Hmac {
  #digest;
  #key;
  #feed = new Feed();

  init(name, key) {
    this.#digest = digestNamed(name);
    if (this.#digest === undefined) throw invalidDigest(name);
    if (this.#digest.extendable) throw new Error('error:00000000:lib(0)::reason(0)');
    this.#key = keyFor(this.#digest, bytesOf(key)).slice();
  }

  update(data, encoding) {
    this.#feed.update(data, encoding, () => system.openHmac(this, this.#digest.id, this.#key));
    return true;
  }

  digest(encoding) {
    const { piece, handle } = this.#feed;
    this.#feed.handle = 0;
    const { id, length } = this.#digest;
    const code = handle === 0 ? system.hmac(id, this.#key, piece, length) : system.finish(handle, length);
    this.#feed.piece = EMPTY;
    return encoded(code, encoding);
  }
}

// Returns the digest of a view of any length.
function digestOf(digest, view) {
  if (view.length <= system.MAX_CHUNK) return system.digest(digest.id, view, digest.length);
  const owner = {};
  const handle = system.openHash(owner, digest.id);
  system.update(handle, view);
  return system.finish(handle, digest.length);
}

// Implements `crypto.hash()`. Data that fits into a system call needs only one system call.
function oneShotDigest(name, id, cache, input, outputEncoding, encoding, length) {
  const digest = digestById(id) ?? digestNamed(name);
  if (digest === undefined) throw new Error(`Digest method ${name} is not supported`);
  if (length !== undefined && length !== digest.length && !digest.extendable) {
    throw new Error(`Output length ${length} is invalid for ${name}, which does not support XOF`);
  }
  if (length === 0) return encoded(new Uint8Array(0), outputEncoding);
  const isShort = typeof input === 'string' ? input.length <= SHORT_STRING : input.byteLength <= system.MAX_CHUNK;
  const out = isShort ? system.digest(digest.id, input, length ?? digest.length) : longDigest(digest, input, length);
  return outputEncoding === 'buffer' ? toBuffer(out) : native.decode(out, 0, out.length, encoding);
}

function longDigest(digest, input, length) {
  const hash = new Hash(digest.name, length, digest.id);
  hash.update(input, 'utf8');
  return hash.digest();
}

module.exports = { Hash, Hmac, oneShotDigest, digestOf, invalidDigest, encodingOf, encoded };
