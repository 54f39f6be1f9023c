// The arguments that Node checks in C++ and not in its library: descriptors (util.cc,
// `GetValidatedFd`) and modes (node_file.cc, `GetValidFileMode`). The checks run first, because a
// wrong argument throws at the call, even if the call is asynchronous. Next: io.js and names.js,
// which call these functions.
'use strict';

const context = require('../context.js');

const MAX_FD = 2147483647;
const MAX_MODE = 7;

function checkFd(fd) {
  // Only a whole number of 32 bits is unchanged by `| 0`.
  if (typeof fd === 'number' && fd >= 0 && fd === (fd | 0)) return;
  const { ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE } = context.requireBuiltin('internal/errors').codes;
  if (typeof fd !== 'number') throw new ERR_INVALID_ARG_TYPE('fd', 'number', fd);
  throw new ERR_OUT_OF_RANGE('fd', Number.isInteger(fd) ? `>= 0 && <= ${MAX_FD}` : 'an integer', fd);
}

// Returns the mode of `access` and `copyFile`; a missing mode is 0.
function modeOf(mode) {
  if (mode === undefined || mode === null) return 0;
  if (typeof mode !== 'number') throw coded(TypeError, 'ERR_INVALID_ARG_TYPE', 'mode must be int32 or null/undefined');
  if (!Number.isFinite(mode)) throw coded(RangeError, 'ERR_OUT_OF_RANGE', 'mode is out of range');
  const whole = mode | 0;
  if (whole < 0 || whole > MAX_MODE) throw coded(RangeError, 'ERR_OUT_OF_RANGE', `mode is out of range: >= 0 && <= ${MAX_MODE}`);
  return whole;
}

// Makes an error as Node's C++ does, without the marks that Node's library adds to errors.
function coded(Class, code, message) {
  const error = new Class(message);
  error.code = code;
  return error;
}

module.exports = { checkFd, modeOf, coded };
