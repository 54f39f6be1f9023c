// The errors of TLS in the forms of OpenSSL, from the reasons that a session reports. Next:
// ../internal-bindings/tls_wrap.js.
'use strict';

// The numbers of reasons in OpenSSL's library of TLS (20), for messages.
const NUMBERS = {
  __proto__: null,
  'no application protocol': '0A0000EB',
  'wrong version number': '0A00010B',
  'no shared cipher': '0A0000C1',
  'unsupported protocol': '0A000102',
  'http request': '0A00009C',
  'no protocols available': '0A0000BF',
  'no ciphers available': '0A0000B5',
  'decryption failed or bad record mac': '0A000119',
  'unexpected message': '0A0000F4',
  'bad record type': '0A0001BB',
  'no cipher match': '0A0000B9',
  'no suitable signature algorithm': '0A000076',
  'no shared signature algorithms': '0A000178',
  'peer did not return a certificate': '0A0000C7',
  'wrong ssl version': '0A00010A',
  'invalid command': '0A000118',
  'ee key too small': '0A00018F',
};
// The number of the first reason of an alert.
const ALERTS = 0x3e8;

// The sentences of the codes of a verification.
const SENTENCES = {
  __proto__: null,
  UNABLE_TO_GET_ISSUER_CERT: 'unable to get issuer certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'unable to get local issuer certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'unable to verify the first certificate',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'self-signed certificate in certificate chain',
  CERT_HAS_EXPIRED: 'certificate has expired',
  CERT_NOT_YET_VALID: 'certificate is not yet valid',
  CERT_SIGNATURE_FAILURE: 'certificate signature failure',
  CERT_REVOKED: 'certificate revoked',
  INVALID_PURPOSE: 'unsuitable certificate purpose',
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is not valid for the server's name",
  CERT_CHAIN_TOO_LONG: 'certificate chain too long',
};

// Makes the error of a failed session.
function sessionError(reason, alert) {
  const number = NUMBERS[reason] ?? `0A000${(ALERTS + (alert ?? 80)).toString(16).toUpperCase()}`;
  const suffix = alert === undefined || alert === null ? '' : `:SSL alert number ${alert}`;
  const error = new Error(`error:${number}:SSL routines::${reason}${suffix}`);
  error.library = 'SSL routines';
  error.reason = reason;
  error.code = `ERR_SSL_${reason.toUpperCase().replaceAll(/[ -]/g, '_')}`;
  return error;
}

// Makes the error of a failed verification.
function verificationError(code) {
  const error = new Error(SENTENCES[code] ?? code);
  error.code = code;
  return error;
}

// Makes the error of the event `error`. The event has a code if the operator's authorities do not
// accept the peer.
function errorOf({ reason, alert, code }) {
  return code === undefined ? sessionError(reason, alert ?? undefined) : verificationError(code);
}

module.exports = { errorOf, sessionError, verificationError };
