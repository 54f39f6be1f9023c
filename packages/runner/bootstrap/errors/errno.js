// What: negative Linux error numbers, which is how the host and the shim report failure, as Node's exceptions (api/exceptions.cc).
'use strict';

const { recorded } = require('../internal-bindings/shapes.js');

/** errno (negative) → [name, message]. */
const errorMap = recorded('__errorMap');

function nameOf(errno) {
  return errorMap.get(errno)?.[0] ?? `Unknown system error ${errno}`;
}

function messageOf(errno) {
  return errorMap.get(errno)?.[1] ?? `Unknown system error ${errno}`;
}

// What the kernel says when the policy of the box denies something.
const PERMISSION = /^the permission (\S+) is denied$/;

// Node's UVException: `EBADF: bad file descriptor, write`. `reason`: what there is to say besides, at the end and in brackets.
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
  const permission = PERMISSION.exec(reason ?? '');
  if (permission !== null) error.permission = permission[1];
  return error;
}

module.exports = { errorMap, nameOf, messageOf, uvException };
