// Makes Node's error of a failed computation, in the words of OpenSSL 3. Node has two kinds of such
// errors. Node's synchronous functions put OpenSSL's parts on the error (`code`, `library`,
// `reason`). Node's jobs set only the message. Next: sign.js and kdf.js, which throw and report
// such errors.
'use strict';

const PROVIDER = 'Provider routines';
const ENVELOPE = 'digital envelope routines';

// name → [number in crates/crypto/src/fault.rs, OpenSSL's number, library, reason]
const FAULTS = {
  TooLong: [6, '0180007B', 'bignum routines', 'bits too large'],
  BadDecrypt: [9, '1C800064', PROVIDER, 'bad decrypt'],
  WrongFinalBlockLength: [10, '1C80006B', PROVIDER, 'wrong final block length'],
  Asn1: [13, '0680008E', 'asn1 encoding routines', 'not enough data'],
  Asn1Tag: [29, '068000A8', 'asn1 encoding routines', 'wrong tag'],
  NoPem: [14, '1E08010C', 'DECODER routines', 'unsupported'],
  UnexpectedKey: [15, '1E08010C', 'DECODER routines', 'unsupported'],
  PassphraseWrong: [17, '1C800064', PROVIDER, 'bad decrypt'],
  KeyType: [18, '03000096', ENVELOPE, 'operation not supported for this keytype'],
  InvalidPoint: [19, '08000066', 'elliptic curve routines', 'invalid encoding'],
  InvalidPrivateKey: [20, '0800007B', 'elliptic curve routines', 'invalid private key'],
  DataTooLarge: [21, '0200006E', 'rsa routines', 'data too large for key size'],
  DataLength: [22, '0200007A', 'rsa routines', 'data too small for key size'],
  Padding: [23, '02000079', 'rsa routines', 'oaep decoding error'],
  DigestTooBig: [24, '02000070', 'rsa routines', 'digest too big for rsa key'],
  Length: [25, '01800076', 'bignum routines', 'bits too small'],
  NeutralElement: [27, '1C8000A4', PROVIDER, 'failed during derivation'],
  SaltLength: [28, '1C800070', PROVIDER, 'invalid salt length'],
};

/** The number of each fault by name, for comparing results. */
const Fault = {};
for (const name of Object.keys(FAULTS)) Fault[name] = FAULTS[name][0];
Object.assign(Fault, {
  Stopped: 1,
  Malformed: 2,
  Memory: 3,
  Entropy: 4,
  Unsupported: 5,
  KeyLength: 7,
  IvLength: 8,
  Unauthenticated: 11,
  State: 12,
  PassphraseMissing: 16,
  Internal: 26,
});

const FAULT_BASE = 4_096;

// Returns the fault in a system call's result, or undefined for a value or an errno.
function faultOf(result) {
  return typeof result === 'number' && result < -FAULT_BASE ? -result - FAULT_BASE : undefined;
}

// The parts of error codes, by library. Codes of other libraries have no such part.
const PLACES = {
  'rsa routines': 'RSA_',
  'asn1 encoding routines': 'ASN1_',
  [ENVELOPE]: 'EVP_',
  'common libcrypto routines': 'CRYPTO_',
  'PEM routines': 'PEM_',
};

function opensslError(number, library, reason, twice = false) {
  const error = new Error(`error:${number}:${library}::${reason}`);
  if (twice) error.opensslErrorStack = [error.message];
  error.library = library;
  error.reason = reason;
  const place = PLACES[library] ?? '';
  error.code = `ERR_OSSL_${place}${reason.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`;
  return error;
}

function partsOf(fault) {
  for (const name of Object.keys(FAULTS)) if (FAULTS[name][0] === fault) return FAULTS[name].slice(1);
  return undefined;
}

// Returns the error of a synchronous function. `otherwise` is the error's message if OpenSSL has no
// words for the fault. A lack of memory has a message of its own.
function thrown(fault, otherwise = 'The operation failed', twice = false) {
  const parts = partsOf(fault);
  if (parts !== undefined) return opensslError(...parts, twice);
  return plain(fault, otherwise);
}

// Returns the error that a job reports.
function reported(fault, otherwise = 'The operation failed') {
  const parts = partsOf(fault);
  if (parts !== undefined) return new Error(`error:${parts[0]}:${parts[1]}::${parts[2]}`);
  return plain(fault, otherwise);
}

function plain(fault, otherwise) {
  if (fault === Fault.Memory) {
    return coded(Error, 'ERR_CRYPTO_OPERATION_FAILED', 'The operation needs more memory than the sandbox may have');
  }
  return new Error(otherwise);
}

// Makes an error as Node's C++ does (THROW_ERR_...): the class, the code and the message.
function coded(Class, code, message) {
  const error = new Class(message);
  error.code = code;
  return error;
}

module.exports = { Fault, faultOf, thrown, reported, coded, opensslError };
