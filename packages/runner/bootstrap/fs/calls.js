// What: the kernel's file calls by name (docs/internals/guest-abi.md, 0x100). Arguments are numbers, texts and views; the result is a value or a
// negative error number.
// Next: checks.js, what an argument must be; answers.js, how a result becomes what Node's library expects.
'use strict';

const NUMBERS = {
  open: 0x100,
  close: 0x101,
  read: 0x102,
  write: 0x103,
  stat: 0x104,
  fstat: 0x105,
  access: 0x106,
  mkdir: 0x107,
  rmdir: 0x108,
  unlink: 0x109,
  rename: 0x10a,
  link: 0x10b,
  symlink: 0x10c,
  readlink: 0x10d,
  readdir: 0x10e,
  ftruncate: 0x10f,
  chmod: 0x110,
  fchmod: 0x111,
  chown: 0x112,
  fchown: 0x113,
  utimes: 0x114,
  futimes: 0x115,
  fsync: 0x116,
  realpath: 0x117,
  statfs: 0x118,
  chdir: 0x11a,
  getcwd: 0x11b,
  copyFile: 0x11c,
  moduleStat: 0x11d,
  readFile: 0x11e,
  watch: 0x11f,
  unwatch: 0x120,
  umask: 0x121,
  reason: 0x123,
  kind: 0x124,
};

// Linux's numbers, as far as they are needed by name.
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

// One call copies so much and no more: in between others get their turn, and a program that must end ends.
function copyFile(from, to, mode) {
  let at = 0;
  do at = sys(NUMBERS.copyFile, from, to, mode, at);
  while (at > 0);
  return at;
}

module.exports = { NUMBERS, ERRNO, O_RDONLY, O_DIRECTORY, sys, copyFile };
