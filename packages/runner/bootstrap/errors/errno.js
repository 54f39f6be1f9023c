// Converts negative Linux error numbers, with which the kernel and the shim report failures, to
// Node's exceptions (api/exceptions.cc).
'use strict';

const { recorded } = require('../internal-bindings/shapes.js');
const { namePermission } = require('./denials.js');

/** errno (negative) → [name, message]. */
const errorMap = recorded('__errorMap');

function nameOf(errno) {
  return errorMap.get(errno)?.[0] ?? `Unknown system error ${errno}`;
}

function messageOf(errno) {
  return errorMap.get(errno)?.[1] ?? `Unknown system error ${errno}`;
}

// Makes Node's UVException: `EBADF: bad file descriptor, write`. The message ends with `reason` in
// parentheses, if `reason` is given.
function uvException(errno, syscall, path, dest, reason) {
  const code = nameOf(errno);
  let message = `${code}: ${messageOf(errno)}, ${syscall}`;
  if (path !== undefined) message += ` '${path}'`;
  if (dest !== undefined) message += ` -> '${dest}'`;
  if (reason !== undefined) message += ` (${reason})`;
  const error = new Error(message);
  error.errno = errno;
  error.code = code;
  error.syscall = syscall;
  if (path !== undefined) error.path = path;
  if (dest !== undefined) error.dest = dest;
  return reason === undefined ? error : namePermission(error, reason);
}

module.exports = { errorMap, nameOf, messageOf, uvException };
