// Writes keys as PEM, DER, JWK or raw bytes. Next: keys.js; crates/crypto/src/key/write.rs.
'use strict';

const { bytesOf, numberOf, request, toBuffer } = require('./bytes.js');
const { cipherNamed } = require('./ciphers.js');
const { curveById } = require('./curves.js');
const { coded, faultOf, thrown } = require('./faults.js');
const { computeSync } = require('./jobs.js');
const keys = require('./keys.js');

const EXPORT = 14;
const SEAL = 15;
const CONVERT = 16;

const PEM = 1;
const JWK = 2;
const RAW_PUBLIC = 3;
const COMPRESSED = 2;
const HYBRID = 6;

const { base64url, latin1 } = native.encodings;
const text = (bytes) => native.decode(bytes, 0, bytes.length, base64url);

// Returns DER (a Buffer) or PEM (a string), encrypted if a cipher is named.
function exported(der, isPrivate, { format, encoding, cipher, passphrase }) {
  const isPem = format === PEM;
  let bytes;
  if (cipher === undefined || cipher === null) bytes = keys.certain(EXPORT, der, isPrivate, encoding, isPem);
  else bytes = sealed(der, cipher, passphrase, isPem);
  return isPem ? native.decode(bytes, 0, bytes.length, latin1) : toBuffer(bytes.slice());
}

function sealed(der, name, passphrase, isPem) {
  const cipher = cipherNamed(name);
  if (cipher === undefined) throw coded(Error, 'ERR_CRYPTO_UNKNOWN_CIPHER', 'Unknown cipher');
  const keyLength = cipher.mode === 'cbc' ? cipher.keyLength : 0;
  const result = computeSync(SEAL, request(der, true, keyLength, bytesOf(passphrase), isPem));
  if (typeof result === 'number') throw thrown(faultOf(result), `Keys cannot be sealed with ${name}`);
  return result;
}

function toJwk(handle, into) {
  if (handle.secretBytes !== undefined) return Object.assign(into, { kty: 'oct', k: text(handle.secretBytes) });
  const isPrivate = handle.getKeyType() === keys.PRIVATE;
  const parts = handle.parts();
  switch (handle.getAsymmetricKeyType()) {
    case 'rsa': {
      const names = isPrivate ? ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'] : ['n', 'e'];
      into.kty = 'RSA';
      for (const [index, name] of names.entries()) into[name] = text(parts[index]);
      return into;
    }
    case 'ec': {
      const [curve, x, y, d] = parts;
      Object.assign(into, { kty: 'EC', x: text(x), y: text(y), crv: curveById(numberOf(curve)).jwk });
      if (isPrivate) into.d = text(d);
      return into;
    }
    case 'ed25519':
    case 'x25519': {
      into.crv = handle.getAsymmetricKeyType() === 'x25519' ? 'X25519' : 'Ed25519';
      if (isPrivate) into.d = text(parts[1]);
      into.x = text(parts[0]);
      into.kty = 'OKP';
      return into;
    }
    default:
      throw coded(Error, 'ERR_CRYPTO_JWK_UNSUPPORTED_KEY_TYPE', 'Unsupported JWK Key Type.');
  }
}

// Returns the point of an EC key in one of OpenSSL's forms.
function ecPoint([curve, x, y], form) {
  const point = new Uint8Array(1 + x.length + y.length);
  point[0] = 4;
  point.set(x, 1);
  point.set(y, 1 + x.length);
  return toBuffer(inForm(numberOf(curve), point, form));
}

function inForm(curve, point, form) {
  if (form === COMPRESSED) return keys.certain(CONVERT, curve, point, true).slice();
  if (form === HYBRID) point[0] = 6 | (point[point.length - 1] & 1);
  return point;
}

// Returns the result of a job that makes keys: a handle, or the key in the requested encoding.
function delivered(handle, { format, encoding, cipher, passphrase }) {
  if (format === undefined || format === null) return handle;
  if (format === JWK) return handle.exportJwk({});
  if (format >= RAW_PUBLIC) return rawOf(handle, format, encoding);
  return handle.export(format, encoding, cipher, passphrase);
}

function rawOf(handle, format, form) {
  const isEc = handle.getAsymmetricKeyType() === 'ec';
  if (format === RAW_PUBLIC) return isEc ? handle.exportECPublicRaw(form) : handle.rawPublicKey();
  return isEc ? handle.exportECPrivateRaw() : handle.rawPrivateKey();
}

module.exports = { exported, toJwk, ecPoint, inForm, delivered };
