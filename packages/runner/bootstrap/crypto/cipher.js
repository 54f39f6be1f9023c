// `CipherBase`, the class under `createCipheriv` and `createDecipheriv`: the checks of Node's C++,
// and the order of calls that Node allows. CCM and key wrap convert a whole message, of any length,
// with one command of the kernel. Next: ciphers.js, which has the ciphers' names; whole.js, which
// runs the command for whole messages.
'use strict';

const context = require('../context.js');
const { bytesOf, toBuffer } = require('./bytes.js');
const { cipherNamed, isAead, takesIv } = require('./ciphers.js');
const { Fault, coded, faultOf, thrown } = require('./faults.js');
const { encodingOf } = require('./hash.js');
const { open, closed, part, checked, MAX_CHUNK } = require('./system.js');
const { convertWhole } = require('./whole.js');
const { cryptography: NUMBERS } = require('../generated/system-calls.js');

const AAD = 0;
const TAG = 1;
const PADDING = 2;
const ENCRYPT = 1 << 16;

const DEFAULT_TAG = 16;
const UNAUTHENTICATED = 'Unsupported state or unable to authenticate data';

const invalidTag = (length) => coded(TypeError, 'ERR_CRYPTO_INVALID_AUTH_TAG', `Invalid authentication tag length: ${length}`);
const invalidIv = () => coded(TypeError, 'ERR_CRYPTO_INVALID_IV', 'Invalid initialization vector');
const invalidLength = () => coded(RangeError, 'ERR_CRYPTO_INVALID_MESSAGELEN', 'Invalid message length');

const isGcmTag = (length) => length === 4 || length === 8 || (length >= 12 && length <= 16);

// Returns the length of the tag of an AEAD cipher: the requested length, or 16 for
// chacha20-poly1305. Returns undefined for GCM without a requested length: an encryption then makes
// 16 bytes, and a decryption accepts the length of the given tag. Throws if the requested length is
// invalid.
function tagLengthFor(cipher, name, asked) {
  if (cipher.mode === 'gcm') {
    if (asked === -1) return undefined;
    if (!isGcmTag(asked)) throw invalidTag(asked);
    return asked;
  }
  if (asked === -1) {
    if (cipher.poly) return DEFAULT_TAG;
    throw coded(TypeError, 'ERR_CRYPTO_INVALID_AUTH_TAG', `authTagLength required for ${name}`);
  }
  const fits = cipher.mode === 'ccm' ? asked >= 4 && asked <= 16 && asked % 2 === 0 : asked >= 1 && asked <= 16;
  if (!fits) throw invalidTag(asked);
  return asked;
}

let warned = false;

function warnOfShortTag() {
  if (warned) return;
  warned = true;
  context.process.emitWarning(
    'Using AES-GCM authentication tags of less than 128 bits without specifying the authTagLength option ' +
      'when initializing decryption is deprecated.',
    'DeprecationWarning',
    'DEP0182',
  );
}

class CipherBase {
  #cipher;
  #encrypt;
  #tagLength;
  #tag;
  #handle = 0;
  #finished = false;
  // The state of a cipher that converts its message as one piece.
  #whole;
  #failed = false;

  constructor(encrypt, name, key, iv, tagLength) {
    const cipher = cipherNamed(name);
    if (cipher === undefined) throw coded(Error, 'ERR_CRYPTO_UNKNOWN_CIPHER', 'Unknown cipher');
    const keyBytes = bytesOf(key);
    if (keyBytes.length !== cipher.keyLength) throw coded(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length');
    const ivBytes = bytesOf(iv);
    if (iv === null ? cipher.ivLength !== 0 : !takesIv(cipher, ivBytes.length)) throw invalidIv();
    this.#cipher = cipher;
    this.#encrypt = encrypt;
    if (isAead(cipher)) this.#tagLength = tagLengthFor(cipher, name, tagLength);
    if (cipher.mode === 'ccm' || cipher.mode === 'wrap') {
      this.#whole = { cipher, encrypt, key: keyBytes.slice(), iv: ivBytes.slice(), aad: undefined, done: false };
      return;
    }
    const number = cipher.id | (encrypt ? ENCRYPT : 0);
    this.#handle = open(this, NUMBERS.cipherOpen, number, keyBytes, ivBytes, this.#tagLength ?? DEFAULT_TAG);
  }

  update(data, encoding) {
    const input = typeof data === 'string' ? new Uint8Array(native.encode(data, encodingOf(encoding))) : bytesOf(data);
    if (this.#finished) throw new Error('Trying to add data in unsupported state');
    if (this.#whole !== undefined) return toBuffer(this.#updateWhole(input));
    const out = new Uint8Array(input.length + 32);
    let length = 0;
    for (let at = 0; at < input.length; at += MAX_CHUNK) {
      const piece = part(input, at, MAX_CHUNK);
      const result = native.sys(NUMBERS.cipherUpdate, this.#handle, piece, out.subarray(length, length + piece.length + 16));
      length += this.#settle(result);
    }
    return toBuffer(out.slice(0, length));
  }

  #settle(result) {
    const fault = faultOf(result);
    if (fault === undefined) return checked(result);
    if (fault === Fault.Unauthenticated) throw new Error(UNAUTHENTICATED);
    throw thrown(fault, 'Trying to add data in unsupported state');
  }

  #updateWhole(input) {
    const whole = this.#whole;
    if (whole.done) throw new Error('Trying to add data in unsupported state');
    const ivLength = whole.iv.length;
    if (this.#cipher.mode === 'ccm' && 15 - ivLength < 4 && input.length >= 2 ** (8 * (15 - ivLength))) throw invalidLength();
    if (this.#cipher.mode === 'ccm' && !this.#encrypt && this.#tag === undefined) return new Uint8Array(0);
    whole.done = true;
    const result = convertWhole({
      ...whole,
      text: input,
      tag: this.#encrypt ? undefined : this.#tag,
      tagLength: this.#tagLength ?? 0,
    });
    if (typeof result === 'number') {
      this.#failed = true;
      if (this.#cipher.mode === 'ccm') return new Uint8Array(0);
      throw new Error('Trying to add data in unsupported state');
    }
    if (this.#encrypt) this.#tag = result.tag;
    return result.text;
  }

  final() {
    if (this.#finished) throw coded(Error, 'ERR_CRYPTO_INVALID_STATE', 'Invalid state');
    this.#finished = true;
    if (this.#whole !== undefined) return this.#finalWhole();
    const out = new Uint8Array(48);
    const handle = this.#handle;
    closed(handle);
    const result = native.sys(NUMBERS.cipherFinish, handle, out);
    const fault = faultOf(result);
    if (fault !== undefined) throw this.#finalError(fault);
    const length = checked(result);
    const hasTag = isAead(this.#cipher) && this.#encrypt;
    const textLength = hasTag ? length - (this.#tagLength ?? DEFAULT_TAG) : length;
    if (hasTag) this.#tag = out.slice(textLength, length);
    return toBuffer(out.slice(0, textLength));
  }

  #finalError(fault) {
    if (isAead(this.#cipher)) return new Error(UNAUTHENTICATED);
    // OpenSSL's error queue has this error twice.
    return thrown(fault, 'Unsupported state', true);
  }

  #finalWhole() {
    const { mode } = this.#cipher;
    if (mode === 'ccm' && !this.#whole.done) {
      if (!this.#encrypt) {
        if (this.#tag === undefined) throw new Error(UNAUTHENTICATED);
        // Like Node, does not authenticate a message if `update` was never called.
        return toBuffer(new Uint8Array(0));
      }
      this.#updateWhole(new Uint8Array(0));
    }
    if (this.#failed) throw new Error(UNAUTHENTICATED);
    return toBuffer(new Uint8Array(0));
  }

  setAutoPadding(on) {
    if (this.#finished) return false;
    if (this.#handle !== 0)
      native.sys(NUMBERS.cipherSet, this.#handle, PADDING, new Uint8Array([on === undefined || on ? 1 : 0]));
    return true;
  }

  getAuthTag() {
    if (!this.#finished || !this.#encrypt || this.#tag === undefined) return undefined;
    return toBuffer(this.#tag.slice());
  }

  setAuthTag(tag) {
    if (!isAead(this.#cipher) || this.#encrypt || this.#finished || this.#tag !== undefined) return false;
    const bytes = bytesOf(tag).slice();
    const { mode } = this.#cipher;
    const known = this.#tagLength;
    const fits =
      mode === 'gcm' ? isGcmTag(bytes.length) && (known === undefined || known === bytes.length) : known === bytes.length;
    if (!fits) throw invalidTag(bytes.length);
    if (mode === 'gcm' && known === undefined && bytes.length < DEFAULT_TAG) warnOfShortTag();
    this.#tag = bytes;
    if (this.#handle !== 0) this.#settle(native.sys(NUMBERS.cipherSet, this.#handle, TAG, bytes));
    return true;
  }

  setAAD(data, plaintextLength) {
    if (!isAead(this.#cipher) || this.#finished) return false;
    const bytes = bytesOf(data);
    if (this.#whole !== undefined) return this.#aadOfWhole(bytes, plaintextLength);
    for (let at = 0; at < bytes.length; at += MAX_CHUNK) {
      const result = native.sys(NUMBERS.cipherSet, this.#handle, AAD, part(bytes, at, MAX_CHUNK));
      if (faultOf(result) !== undefined) return false;
    }
    return true;
  }

  #aadOfWhole(bytes, plaintextLength) {
    if (plaintextLength === -1) {
      throw coded(TypeError, 'ERR_MISSING_ARGS', 'options.plaintextLength required for CCM mode with AAD');
    }
    const spare = 15 - this.#whole.iv.length;
    if (spare < 4 && plaintextLength >= 2 ** (8 * spare)) throw invalidLength();
    this.#whole.aad = bytes.slice();
    return true;
  }
}

module.exports = { CipherBase, UNAUTHENTICATED };
