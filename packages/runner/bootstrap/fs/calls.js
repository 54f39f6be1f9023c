// The kernel's file calls, and the error numbers and flags that their callers need. Arguments are
// numbers, texts and views. The result is a value or a negative error number. Next: checks.js,
// which checks arguments; answers.js, which turns results into what Node's library expects.
'use strict';

const { files: NUMBERS } = require('../generated/system-calls.js');

// Linux's error numbers.
const ERRNO = {
  EPERM: -1,
  ENOENT: -2,
  EBADF: -9,
  EAGAIN: -11,
  EEXIST: -17,
  ENOTDIR: -20,
  EISDIR: -21,
  EINVAL: -22,
  ENOSYS: -38,
  ENOTEMPTY: -39,
};
const O_RDONLY = 0;
const O_DIRECTORY = 0o200000;

const { sys } = native;

// Copies a file. Returns 0 or a negative errno. One system call copies at most 8 MiB. Between two
// calls other programs run, and a killed program ends.
function copyFile(from, to, mode) {
  let at = 0;
  do at = sys(NUMBERS.copyFile, from, to, mode, at);
  while (at > 0);
  return at;
}

module.exports = { NUMBERS, ERRNO, O_RDONLY, O_DIRECTORY, sys, copyFile };
