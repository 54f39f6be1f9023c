// The reason of a denied system call, in the errors that Node's library makes from error numbers.
// The kernel keeps one sentence for the last denied call of the process
// (packages/sidecar/crates/kernel/src/permissions/denied.rs). Reading the sentence removes it. Each
// error with `EACCES` ends with the sentence in parentheses, and names the permission in
// `error.permission`. A refusal outside the runtime has two further texts, with NUL between them:
// the stable reason and the rule, which become `error.reason` and `error.rule`. Next: errno.js,
// which makes the errors of `fs`.
'use strict';

const { files: NUMBERS } = require('../generated/system-calls.js');
const { compileBuiltin, replaceBuiltin } = require('../start-up/builtins.js');

const EACCES = -13;
const LONGEST_REASON = 1024;
const ERRORS = 'internal/errors';
const PERMISSION = /^the permission (\S+) is denied /;

const { construct, apply } = Reflect;
const { defineProperty } = Object;

// The reason of the failure that the present callback reports, and the code of the failure.
let reported;
let reportedCode;

// Returns the kernel's reason for a call that just failed with `errno`. Returns undefined if the
// call was not denied.
function reasonOf(errno) {
  if (errno !== EACCES) return undefined;
  const bytes = new Uint8Array(LONGEST_REASON);
  const length = native.sys(NUMBERS.reason, bytes);
  return length > 0 ? native.decode(bytes, 0, Math.min(length, LONGEST_REASON), native.encodings.utf8) : undefined;
}

// Calls `callback`, which reports a failure to Node's library later than the failed call. The first
// error with the code that the library makes in the callback has the reason.
function reportWith(reason, callback, code = EACCES) {
  reported = reason;
  reportedCode = code;
  try {
    return callback();
  } finally {
    reported = undefined;
  }
}

function takeReason(code) {
  const reason = reported;
  if (reason === undefined || code !== reportedCode) return reasonOf(code);
  reported = undefined;
  return reason;
}

// Sets `permission` of an error whose message has the reason.
function namePermission(error, reason) {
  const permission = PERMISSION.exec(reason);
  if (permission !== null) error.permission = permission[1];
  return error;
}

// Sets the properties of an error that a refusal has caused. Returns the sentence.
function nameRefusal(error, texts) {
  const [sentence, reason, rule] = texts.split('\0');
  namePermission(error, sentence);
  if (reason !== undefined) error.reason = reason;
  if (rule !== undefined) error.rule = rule;
  return sentence;
}

// Appends the reason to the error's message, also in the stack.
function addReason(error, texts) {
  const { message, stack } = error;
  error.message = `${message} (${nameRefusal(error, texts)})`;
  const at = typeof stack === 'string' ? stack.indexOf(message) : -1;
  if (at >= 0) {
    const value = `${stack.slice(0, at)}${error.message}${stack.slice(at + message.length)}`;
    defineProperty(error, 'stack', { value, writable: true, configurable: true });
  }
  return error;
}

// Makes a class whose errors have the reason. `errnoOf` returns the errno from the arguments.
function explained(Class, errnoOf) {
  return new Proxy(Class, {
    construct(target, args) {
      // The class is the new target, so that the stack begins at the caller of the class.
      const error = construct(target, args, target);
      const reason = takeReason(errnoOf(args));
      return reason === undefined ? error : addReason(error, reason);
    },
  });
}

// Replaces the classes of Node's library that make errors from error numbers. Must run before the
// library loads the file of the classes.
function install() {
  const original = compileBuiltin(ERRORS);
  replaceBuiltin(ERRORS, function (...args) {
    const result = apply(original, this, args);
    const { exports } = args[2];
    for (const name of ['ErrnoException', 'ExceptionWithHostPort', 'UVExceptionWithHostPort', 'DNSException']) {
      exports[name] = explained(exports[name], ([errno]) => errno);
    }
    exports.UVException = explained(exports.UVException, ([failure]) => failure.errno);
    return result;
  });
}

module.exports = { EACCES, install, namePermission, reasonOf, reportWith };
