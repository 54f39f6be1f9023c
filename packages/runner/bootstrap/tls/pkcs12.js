// PKCS #12 files (option `pfx`), which the kernel decrypts (crates/crypto/src/key/pkcs12.rs). Next:
// secure-context.js.
'use strict';

const { fieldsOf, numberOf, request } = require('../crypto/bytes.js');
const { Fault, coded, faultOf } = require('../crypto/faults.js');
const { computeSync } = require('../crypto/jobs.js');

const PKCS12 = 23;

// Returns `{ key, certificates }`: the key as `{ kind, isPrivate, der }` or undefined, and the
// certificates as DER. Throws Node's error for a file that cannot be read.
function openStore(bytes, passphrase) {
  const result = computeSync(PKCS12, request(bytes, passphrase));
  const fault = faultOf(result);
  if (fault !== undefined) throw unreadable(fault);
  const [kind, , der, ...certificates] = fieldsOf(result);
  const key = { kind: numberOf(kind), isPrivate: true, der };
  return { key: key.kind === 0 ? undefined : key, certificates };
}

// As in Node, the message is OpenSSL's reason alone.
function unreadable(fault) {
  if (fault === Fault.PassphraseWrong) return new Error('mac verify failure');
  if (fault === Fault.Asn1) return new Error('not enough data');
  if (fault === Fault.Asn1Tag) return new Error('wrong tag');
  return coded(Error, 'ERR_CRYPTO_UNSUPPORTED_OPERATION', 'Unsupported PKCS12 PFX data');
}

module.exports = { openStore };
