// Makes keys from the forms that programs pass: PEM, DER, JWK, raw bytes. Also reads the arguments
// that Node's C++ accepts as "a key". Next: keys.js; crates/crypto/src/key/read.rs.
'use strict';

const { bytesOf, request } = require('./bytes.js');
const { curveNamed } = require('./curves.js');
const { Fault, coded, faultOf, opensslError, thrown } = require('./faults.js');
const { computeSync } = require('./jobs.js');
const keys = require('./keys.js');

const IMPORT = 9;
const OPEN = 10;
const BUILD = 13;

const DER = 0;
const PKCS8 = 1;
const JWK = 2;
const RAW_PUBLIC = 3;
const RAW_PRIVATE = 4;

const WANT_PUBLIC = 0;
const WANT_PRIVATE = 1;
const WANT_EITHER = 2;

const { base64url } = native.encodings;

const invalidJwk = (message) => coded(TypeError, 'ERR_CRYPTO_INVALID_JWK', message);
const invalidCurve = () => coded(TypeError, 'ERR_CRYPTO_INVALID_CURVE', 'Invalid EC curve name');
const invalidData = () => coded(TypeError, 'ERR_INVALID_ARG_VALUE', 'Invalid key data');

const decoded = (text) => new Uint8Array(native.encode(text, base64url));

function secretBytes(data, format) {
  if (format !== JWK) return bytesOf(data).slice();
  if (data.kty !== 'oct' || typeof data.k !== 'string') throw invalidJwk('Invalid JWK secret key format');
  return decoded(data.k);
}

// Returns `{ kind, isPrivate, der }`. If a public key is wanted, the public part of a private key
// is returned.
function keyFrom(data, format, encoding, passphrase, namedCurve, wantsPrivate) {
  const wanted = wantsPrivate ? WANT_PRIVATE : WANT_PUBLIC;
  if (format === JWK) return fromJwk(data, wanted);
  if (format === RAW_PUBLIC || format === RAW_PRIVATE)
    return fromRaw(bytesOf(data), encoding, namedCurve, format === RAW_PRIVATE);
  if (format > RAW_PRIVATE) throw coded(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'This format of keys is not available');
  return encodedKey(bytesOf(data), format, encoding, passphrase, wanted);
}

// Reads an argument that describes a key (C++: GetPrivateKeyFromJs, GetPublicOrPrivateKeyFromJs): a
// handle alone, or data and its format.
function keyArgument(data, format, encoding, passphrase, namedCurve, wantsPrivate) {
  if (data instanceof keys.KeyObjectHandle) return data.as(keys.PRIVATE);
  if (format === JWK) return fromJwk(data, wantsPrivate ? WANT_PRIVATE : WANT_EITHER);
  if (format === RAW_PUBLIC || format === RAW_PRIVATE)
    return fromRaw(bytesOf(data), encoding, namedCurve, format === RAW_PRIVATE);
  return encodedKey(bytesOf(data), format, encoding, passphrase, wantsPrivate ? WANT_PRIVATE : WANT_EITHER);
}

function encodedKey(bytes, format, encoding, passphrase, wanted) {
  const fields = [wanted, format !== DER, encoding ?? undefined, bytes];
  let result = keys.command(IMPORT, ...fields);
  if (faultOf(result) === Fault.PassphraseMissing && passphrase !== undefined && passphrase !== null) {
    result = computeSync(OPEN, request(...fields, bytesOf(passphrase)));
  }
  const fault = faultOf(result);
  if (fault === undefined) return keys.described(result);
  throw unreadable(fault, format, encoding, wanted);
}

function unreadable(fault, format, encoding, wanted) {
  if (fault === Fault.PassphraseMissing) {
    return opensslError('07880109', 'common libcrypto routines', 'interrupted or cancelled', true);
  }
  if (fault === Fault.PassphraseWrong) return thrown(fault, undefined, true);
  if (format === DER && wanted !== WANT_PRIVATE) return new Error('Failed to read asymmetric key');
  const isAsn1 = fault === Fault.Asn1 || fault === Fault.Asn1Tag;
  if (isAsn1 && format === DER && encoding === PKCS8) return thrown(fault, undefined, true);
  return opensslError('1E08010C', 'DECODER routines', 'unsupported', true);
}

function built(otherwise, ...fields) {
  const result = keys.command(BUILD, ...fields);
  if (typeof result === 'number') throw otherwise();
  return keys.described(result);
}

function fromJwk(jwk, wanted) {
  if (typeof jwk !== 'object' || jwk === null || typeof jwk.kty !== 'string') throw invalidJwk('Invalid JWK format');
  switch (jwk.kty) {
    case 'RSA':
      return rsaFromJwk(jwk, wanted);
    case 'EC':
      return ecFromJwk(jwk, wanted);
    case 'OKP':
      return okpFromJwk(jwk, wanted);
    default:
      throw invalidJwk(`${jwk.kty} is not a supported JWK key type`);
  }
}

const areStrings = (...values) => values.every((value) => typeof value === 'string');
const isOptionalString = (value) => value === undefined || typeof value === 'string';

function rsaFromJwk(jwk, wanted) {
  const wrong = () => invalidJwk('Invalid JWK RSA key');
  const isPrivate = jwk.d !== undefined && wanted !== WANT_PUBLIC;
  if (!areStrings(jwk.n, jwk.e) || !isOptionalString(jwk.d)) throw wrong();
  const whole = jwk.d !== undefined;
  if (whole && !areStrings(jwk.d, jwk.p, jwk.q, jwk.dp, jwk.dq, jwk.qi)) throw wrong();
  if (wanted === WANT_PRIVATE && !whole) throw wrong();
  const names = isPrivate ? ['d', 'p', 'q', 'dp', 'dq', 'qi'] : [];
  const rest = isPrivate ? names.map((name) => decoded(jwk[name])) : [new Uint8Array(0)];
  return built(wrong, 1, decoded(jwk.n), decoded(jwk.e), ...rest);
}

function ecFromJwk(jwk, wanted) {
  const wrong = () => invalidJwk('Invalid JWK EC key');
  if (!areStrings(jwk.crv, jwk.x, jwk.y) || !isOptionalString(jwk.d)) throw wrong();
  const curve = curveNamed(jwk.crv);
  if (curve === undefined) throw invalidCurve();
  if (wanted === WANT_PRIVATE && jwk.d === undefined) throw wrong();
  const point = new Uint8Array(1 + 2 * curve.length);
  point[0] = 4;
  for (const [index, part] of [jwk.x, jwk.y].entries()) {
    const bytes = decoded(part);
    if (bytes.length !== curve.length) throw wrong();
    point.set(bytes, 1 + index * curve.length);
  }
  const scalar = jwk.d !== undefined && wanted !== WANT_PUBLIC ? decoded(jwk.d) : new Uint8Array(0);
  return built(wrong, 3, curve.id, point, scalar);
}

const OKP_KINDS = { Ed25519: 4, X25519: 5 };

function okpFromJwk(jwk, wanted) {
  const wrong = () => invalidJwk('Invalid JWK OKP key');
  const kind = OKP_KINDS[jwk.crv];
  if (!areStrings(jwk.crv, jwk.x) || kind === undefined || !isOptionalString(jwk.d)) throw wrong();
  if (wanted === WANT_PRIVATE && jwk.d === undefined) throw wrong();
  const secret = jwk.d !== undefined && wanted !== WANT_PUBLIC ? decoded(jwk.d) : new Uint8Array(0);
  return built(wrong, kind, decoded(jwk.x), secret);
}

function fromRaw(bytes, type, namedCurve, isPrivate) {
  const nothing = new Uint8Array(0);
  if (type === 'ec') {
    const curve = curveNamed(namedCurve);
    if (curve === undefined) throw invalidCurve();
    if (isPrivate && bytes.length !== curve.length) throw invalidData();
    return built(invalidData, 3, curve.id, isPrivate ? nothing : bytes, isPrivate ? bytes : nothing);
  }
  const kind = { ed25519: 4, x25519: 5 }[`${type}`.toLowerCase()];
  if (kind === undefined) {
    const message = 'The selected key encoding is incompatible with the key type';
    throw coded(Error, 'ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS', message);
  }
  if (bytes.length !== 32) throw invalidData();
  return built(invalidData, kind, isPrivate ? nothing : bytes, isPrivate ? bytes : nothing);
}

module.exports = { secretBytes, keyFrom, keyArgument, invalidCurve };
