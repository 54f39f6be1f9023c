// Messages that are encrypted or decrypted as one piece: CCM, key wrap, and all messages of Web
// Crypto (`AESCipherJob`, `ChaCha20Poly1305CipherJob`). Next: jobs.js;
// crates/crypto/src/command.rs, `cipher`.
'use strict';

const { bytesOf, fieldsOf, request, toArrayBuffer } = require('./bytes.js');
const { cipherNamed } = require('./ciphers.js');
const { CryptoJob, computeSync } = require('./jobs.js');

const CIPHER = 8;
const MODE_ENCRYPT = 0;

const messageOf = ({ cipher, encrypt, key, iv, aad, text, tag, tagLength }) =>
  request(cipher.id, encrypt, key, iv, tagLength, bytesOf(aad), text, bytesOf(tag));

// Returns `{ text, tag }`, or a fault (a negative number).
function convertWhole(message) {
  const result = computeSync(CIPHER, messageOf(message));
  if (typeof result === 'number') return result;
  const [text, tag] = fieldsOf(result);
  return { text, tag };
}

function joined(text, tag) {
  const both = new Uint8Array(text.length + tag.length);
  both.set(text);
  both.set(tag, text.length);
  return both.buffer;
}

const NOTHING = new Uint8Array(0);

// A cipher job over a whole message. With a tag length, the ciphertext ends with the tag.
class WholeJob extends CryptoJob {
  static provider = 'CIPHERREQUEST';

  command = CIPHER;

  constructor(mode, cipherMode, name, key, data, { iv, tagLength = 0, aad }) {
    super(mode);
    const encrypt = cipherMode === MODE_ENCRYPT;
    let text = bytesOf(data);
    let tag = NOTHING;
    if (!encrypt && tagLength > 0) {
      if (text.length < tagLength) throw new Error('The provided data is too small');
      tag = text.subarray(text.length - tagLength);
      text = text.subarray(0, text.length - tagLength);
    }
    this.request = messageOf({
      cipher: cipherNamed(name),
      encrypt,
      key: bytesOf(key),
      iv: bytesOf(iv),
      aad,
      text,
      tag,
      tagLength,
    });
  }

  value(bytes) {
    const [text, tag] = fieldsOf(bytes);
    return tag.length === 0 ? toArrayBuffer(text.slice()) : joined(text, tag);
  }

  failure() {
    return new Error('Cipher job failed');
  }
}

const MODES = ['ctr', 'cbc', 'gcm', 'wrap'];
const BITS = [128, 192, 256];
const WRAP_IV = new Uint8Array(8).fill(0xa6);

// The counter of CTR may have fewer bits than a block. `counted` then splits the message where the
// counter overflows.
const COUNTER_BITS = 128;

class AESCipherJob extends WholeJob {
  constructor(mode, cipherMode, key, data, variant, iv, extra, aad) {
    const kind = MODES[Math.floor(variant / 3)];
    const name = `aes-${BITS[variant % 3]}-${kind}`;
    if (kind === 'ctr' && extra < COUNTER_BITS) {
      super(mode, cipherMode, name, key, NOTHING, { iv });
      this.immediate = () => counted(name, bytesOf(key), bytesOf(iv), bytesOf(data), extra);
      return;
    }
    if (kind === 'wrap') super(mode, cipherMode, name, key, data, { iv: WRAP_IV });
    else super(mode, cipherMode, name, key, data, { iv, tagLength: kind === 'gcm' ? extra : 0, aad });
  }
}

function counted(name, key, iv, data, bits) {
  const cipher = cipherNamed(name);
  const mask = (1n << BigInt(bits)) - 1n;
  const start = blockNumber(iv);
  const blocks = BigInt(Math.ceil(data.length / 16));
  if (blocks > mask + 1n) throw new Error('Cipher job failed');
  const left = mask + 1n - (start & mask);
  const run = (counter, text) => {
    const result = convertWhole({ cipher, encrypt: true, key, iv: counter, text, tagLength: 0 });
    if (typeof result === 'number') throw new Error('Cipher job failed');
    return result.text;
  };
  if (blocks <= left) return toArrayBuffer(run(iv, data).slice());
  const cut = Number(left) * 16;
  return joined(run(iv, data.subarray(0, cut)), run(blockOf(start & ~mask), data.subarray(cut)));
}

const blockNumber = (bytes) => BigInt(`0x${native.decode(bytes, 0, bytes.length, native.encodings.hex)}`);

function blockOf(number) {
  return new Uint8Array(native.encode(number.toString(16).padStart(32, '0'), native.encodings.hex));
}

class ChaCha20Poly1305CipherJob extends WholeJob {
  constructor(mode, cipherMode, key, data, iv, aad) {
    super(mode, cipherMode, 'chacha20-poly1305', key, data, { iv, aad, tagLength: 16 });
  }
}

module.exports = { convertWhole, AESCipherJob, ChaCha20Poly1305CipherJob };
