// OpenSSL's levels of security: the least strength of a certificate's key (ssl_cert.c). A list of
// cipher suites may set the level. Next: secure-context.js.
'use strict';

const { sessionError } = require('./errors.js');

// The least strength of each level, in bits.
const LEAST = [0, 80, 112, 128, 192, 256];
const DEFAULT = 2;
// Sizes of RSA keys and their strength, the larger first.
const RSA = [
  [15_360, 256],
  [7_680, 192],
  [3_072, 128],
  [2_048, 112],
  [1_024, 80],
];
const CURVES = { __proto__: null, prime256v1: 128, secp384r1: 192, secp521r1: 256, secp256k1: 128 };

// Returns the level of a list of suites. Throws for another command of a list.
function levelOf(list) {
  let level = DEFAULT;
  for (const [, command] of list.matchAll(/@([^:, ]*)/g)) {
    const [, digit] = /^SECLEVEL=([0-5])$/.exec(command) ?? [];
    if (digit !== undefined) level = Number(digit);
    else if (command !== 'STRENGTH') throw sessionError('invalid command');
  }
  return level;
}

// Returns the strength of the key of a certificate. A key of another kind has any strength.
function strengthOf(certificate) {
  const { modulusLength, namedCurve } = certificate.publicKey().keyDetail({});
  if (modulusLength !== undefined) return RSA.find(([size]) => modulusLength >= size)?.[1] ?? 0;
  return CURVES[namedCurve] ?? Infinity;
}

// Throws OpenSSL's error if the key of a program's own certificate is too weak for a level.
function checkKey(certificate, level) {
  if (strengthOf(certificate) < LEAST[level]) throw sessionError('ee key too small');
}

module.exports = { DEFAULT, levelOf, checkKey };
