// The elliptic curves by the names of OpenSSL, NIST and JWK.
'use strict';

// `id` is the kernel's number of the curve, from crates/crypto/src/key/curve.rs. `length` is the
// number of bytes of a coordinate.
const CURVES = [
  { id: 1, name: 'prime256v1', jwk: 'P-256', length: 32 },
  { id: 2, name: 'secp384r1', jwk: 'P-384', length: 48 },
  { id: 3, name: 'secp521r1', jwk: 'P-521', length: 66 },
  { id: 4, name: 'secp256k1', jwk: 'secp256k1', length: 32 },
];

const curveNamed = (name) => CURVES.find((curve) => curve.name === name || curve.jwk === name);
const curveById = (id) => CURVES[id - 1];

module.exports = { curveNamed, curveById, listed: () => ['prime256v1', 'secp256k1', 'secp384r1', 'secp521r1'] };
