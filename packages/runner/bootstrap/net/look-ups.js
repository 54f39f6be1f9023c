// Lookups of names and queries of DNS records outside the runtime, as operations of the kernel. A
// failure has a code of getaddrinfo or c-ares, and an explanation if the policy refuses the name.
// Next: ../internal-bindings/cares_wrap.js.
'use strict';

const { EACCES, reasonOf } = require('../errors/denials.js');
const operations = require('../event-loop/operations.js');
const { ERRNO, NUMBERS, sys } = require('./calls.js');

const ENOENT = -2;
// libuv's numbers of the errors of getaddrinfo.
const EAI = {
  __proto__: null,
  EAI_AGAIN: -3001,
  EAI_FAIL: -3004,
  EAI_FAMILY: -3005,
  EAI_MEMORY: -3006,
  EAI_NODATA: -3007,
  EAI_NONAME: -3008,
};
// The codes of c-ares for the errors of getaddrinfo, and the reverse.
const CARES_OF_EAI = {
  __proto__: null,
  EAI_AGAIN: 'ETIMEOUT',
  EAI_FAIL: 'ESERVFAIL',
  EAI_MEMORY: 'ENOMEM',
  EAI_NODATA: 'ENODATA',
  EAI_NONAME: 'ENOTFOUND',
};
const EAI_OF_CARES = {
  __proto__: null,
  EBADNAME: 'EAI_NONAME',
  ECONNREFUSED: 'EAI_AGAIN',
  ENODATA: 'EAI_NODATA',
  ENOMEM: 'EAI_MEMORY',
  ENOTFOUND: 'EAI_NONAME',
  EREFUSED: 'EAI_AGAIN',
  ESERVFAIL: 'EAI_AGAIN',
  ETIMEOUT: 'EAI_AGAIN',
};
const CARES_CODE = /^E[A-Z]{2,20}$/;

// Returns libuv's number for the code of a failed lookup.
const lookUpError = (code) => EAI[code] ?? EAI[EAI_OF_CARES[code]] ?? EAI.EAI_FAIL;
// Returns the code of c-ares for the code of a failed query.
const queryError = (code) => CARES_OF_EAI[code] ?? (CARES_CODE.test(code) ? code : 'ESERVFAIL');

// Starts a call of the kernel. Returns the operation, or 0 if the name means the guest's machine
// and `done` is not called. `done(code, reason, text)` receives the code of a failure, else
// undefined, and the text of the result. A failed call is reported in a later round.
function ask(call, name, argument, done) {
  const operation = sys(call, name, argument);
  if (operation < 0) {
    const reason = reasonOf(operation);
    native.enqueueTask(() => done(operation === EACCES ? EACCES : codeOf(operation), reason));
    return operation;
  }
  if (operation > 0) {
    operations.expect(operation, (result, bytes) => {
      const text = bytes === undefined ? '' : native.decode(bytes, 0, bytes.byteLength, native.encodings.utf8);
      if (result >= 0) done(undefined, undefined, text);
      else if (text === '') done(codeOf(result));
      else {
        const end = text.indexOf('\0');
        if (end < 0) done(text);
        else done(text.slice(0, end), text.slice(end + 1));
      }
    });
  }
  return operation;
}

// Returns the code for a negative errno. A restore cancels the lookups of a snapshot, and a program
// may try again.
function codeOf(errno) {
  if (errno === ENOENT || errno === ERRNO.EINVAL) return 'EAI_NONAME';
  return errno === ERRNO.ENOBUFS ? 'EAI_MEMORY' : 'EAI_AGAIN';
}

// Cancels an operation of `ask`, whose `done` is then never called.
function cancel(operation) {
  sys(NUMBERS.cancelLookUp, operation);
  operations.forget(operation);
}

module.exports = { EAI, ask, cancel, lookUpError, queryError };
