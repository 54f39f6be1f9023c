// The kernel's file calls, and the error numbers and flags that their callers need. Arguments are
// numbers, texts and views. The result is a value or a negative error number. Next: checks.js,
// which checks arguments; answers.js, which turns results into what Node's library expects.
'use strict';

const { files: NUMBERS, MAX_TRANSFER } = require('../generated/system-calls.js');

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

// Copies a file. Returns 0 or a negative errno. One system call copies at most MAX_TRANSFER bytes.
// Between two calls other programs run, and a killed program ends.
function copyFile(from, to, mode) {
  let at = 0;
  do at = sys(NUMBERS.copyFile, from, to, mode, at);
  while (at > 0);
  return at;
}

// Reads a whole file into `first`, or into a new array if the file is longer. Returns the bytes, or
// a negative errno. A file that is longer than one system call transfers is read in several calls.
function readFile(path, first) {
  let bytes = first;
  for (;;) {
    const length = sys(NUMBERS.readFile, path, bytes);
    if (length < 0) return length;
    if (length > MAX_TRANSFER) return readLongFile(path, length);
    if (length <= bytes.byteLength) return bytes.subarray(0, length);
    bytes = new Uint8Array(length);
  }
}

function readLongFile(path, expected) {
  const fd = sys(NUMBERS.open, path, O_RDONLY, 0);
  if (fd < 0) return fd;
  let bytes = new Uint8Array(expected);
  let length = 0;
  for (;;) {
    if (length === bytes.byteLength) {
      // The file may have grown, so a further read looks for the end.
      const longer = new Uint8Array(length + MAX_TRANSFER);
      longer.set(bytes);
      bytes = longer;
    }
    const count = sys(NUMBERS.read, fd, bytes.subarray(length), -1);
    if (count <= 0) {
      sys(NUMBERS.close, fd);
      return count < 0 ? count : bytes.subarray(0, length);
    }
    length += count;
  }
}

module.exports = { NUMBERS, ERRNO, MAX_TRANSFER, O_RDONLY, O_DIRECTORY, sys, copyFile, readFile };
