// Operations that return names, in the encoding that the caller chose, and operations whose
// arguments are only paths. Next: trees.js.
'use strict';

const context = require('../context.js');
const { NUMBERS, ERRNO, O_RDONLY, O_DIRECTORY, sys, copyFile } = require('./calls.js');
const { answer, effect } = require('./answers.js');
const { checkFd, modeOf } = require('./checks.js');

const PATH_SIZE = 4096;
const LISTING_SIZE = 32768;
const ENTRY_HEADER = 4;
const NS_PER_SECOND = 1e9;
const TEMPORARY = 'XXXXXX';
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const ATTEMPTS = 100;

// Returns the bytes of a name as text in `encoding`, or as a Buffer.
function inEncoding(bytes, encoding) {
  if (encoding === undefined || encoding === null || encoding === 'utf8' || encoding === 'utf-8')
    return native.decode(bytes, 0, bytes.byteLength, native.encodings.utf8);
  const { Buffer } = context.requireBuiltin('buffer');
  const buffer = Buffer.from(bytes);
  return encoding === 'buffer' ? buffer : buffer.toString(encoding);
}

const bytesOf = (path) => (typeof path === 'string' ? new Uint8Array(native.encode(path, native.encodings.utf8)) : path);

// Returns the path that a system call writes to a buffer, or a negative errno. The call's result is
// the path's length.
function pathFrom(number, path, encoding) {
  let bytes = new Uint8Array(PATH_SIZE);
  for (;;) {
    const length = path === undefined ? sys(number, bytes) : sys(number, path, bytes);
    if (length < 0) return length;
    if (length <= bytes.byteLength) return inEncoding(bytes.subarray(0, length), encoding);
    bytes = new Uint8Array(length);
  }
}

// Calls `each(name, type)` for each entry of a directory. Returns a negative errno if the directory
// cannot be read.
function eachEntry(path, each) {
  const fd = sys(NUMBERS.open, path, O_RDONLY | O_DIRECTORY, 0);
  if (fd < 0) return fd;
  const result = eachEntryOf(fd, each);
  sys(NUMBERS.close, fd);
  return result;
}

function eachEntryOf(fd, each) {
  const listing = new Uint8Array(LISTING_SIZE);
  for (;;) {
    const used = sys(NUMBERS.readdir, fd, listing);
    if (used <= 0) return used;
    for (let at = 0; at < used; ) {
      const length = listing[at + 2] | (listing[at + 3] << 8);
      each(listing.subarray(at + ENTRY_HEADER, at + ENTRY_HEADER + length), listing[at]);
      at += ENTRY_HEADER + length;
    }
  }
}

function list(path, encoding, withTypes) {
  const names = [];
  const types = [];
  const result = eachEntry(path, (bytes, type) => {
    names.push(inEncoding(bytes, encoding));
    if (withTypes) types.push(type);
  });
  if (result < 0) return result;
  return withTypes ? [names, types] : names;
}

function makeTemporary(prefix, encoding) {
  const begin = bytesOf(prefix);
  const path = new Uint8Array(begin.byteLength + TEMPORARY.length);
  path.set(begin);
  const random = new Uint8Array(TEMPORARY.length);
  let result = ERRNO.EEXIST;
  for (let attempt = 0; attempt < ATTEMPTS && result === ERRNO.EEXIST; attempt++) {
    native.random(random);
    for (let i = 0; i < random.length; i++) path[begin.byteLength + i] = LETTERS.charCodeAt(random[i] % LETTERS.length);
    result = sys(NUMBERS.mkdir, path, 0o700);
  }
  return result < 0 ? result : inEncoding(path, encoding);
}

// Converts seconds with a fraction to nanoseconds, as a number.
function nanoseconds(seconds) {
  const whole = Math.floor(seconds);
  return whole * NS_PER_SECOND + Math.round((seconds - whole) * NS_PER_SECOND);
}

module.exports = function installNames(binding) {
  const one = (name, number) => {
    binding[name] = (path, req) => effect(req, name, path, undefined, number, path);
  };
  one('rmdir', NUMBERS.rmdir);
  one('unlink', NUMBERS.unlink);
  const two = (name, number) => {
    binding[name] = (from, to, req) => effect(req, name, from, to, number, from, to);
  };
  two('rename', NUMBERS.rename);
  two('link', NUMBERS.link);
  binding.symlink = (target, path, flags, req) => effect(req, 'symlink', target, path, NUMBERS.symlink, target, path);
  binding.access = (path, mode, req) => effect(req, 'access', path, undefined, NUMBERS.access, path, modeOf(mode));
  binding.existsSync = (path) => sys(NUMBERS.access, path, 0) === 0;
  binding.copyFile = (from, to, mode, req) => {
    const flags = modeOf(mode);
    return answer(req, 'copyfile', from, to, () => copyFile(from, to, flags) || undefined);
  };
  binding.readlink = (path, encoding, req) =>
    answer(req, 'readlink', path, undefined, () => pathFrom(NUMBERS.readlink, path, encoding));
  binding.realpath = (path, encoding, req) =>
    answer(req, 'realpath', path, undefined, () => pathFrom(NUMBERS.realpath, path, encoding));
  binding.readdir = (path, encoding, withTypes, req) =>
    answer(req, 'scandir', path, undefined, () => list(path, encoding, withTypes));
  binding.mkdtemp = (prefix, encoding, req) => {
    const shown = typeof prefix === 'string' ? `${prefix}${TEMPORARY}` : prefix;
    return answer(req, 'mkdtemp', shown, undefined, () => makeTemporary(prefix, encoding));
  };

  binding.chmod = (path, mode, req) => effect(req, 'chmod', path, undefined, NUMBERS.chmod, path, mode, 1);
  binding.fchmod = (fd, mode, req) => {
    checkFd(fd);
    return effect(req, 'fchmod', undefined, undefined, NUMBERS.fchmod, fd, mode);
  };
  const owner = (name, follow) => {
    binding[name] = (path, uid, gid, req) => effect(req, name, path, undefined, NUMBERS.chown, path, uid, gid, follow);
  };
  owner('chown', 1);
  owner('lchown', 0);
  binding.fchown = (fd, uid, gid, req) => {
    checkFd(fd);
    return effect(req, 'fchown', undefined, undefined, NUMBERS.fchown, fd, uid, gid);
  };
  const times = (name, syscall, follow) => {
    binding[name] = (path, atime, mtime, req) =>
      effect(req, syscall, path, undefined, NUMBERS.utimes, path, nanoseconds(atime), nanoseconds(mtime), follow);
  };
  times('utimes', 'utime', 1);
  times('lutimes', 'lutime', 0);
  binding.futimes = (fd, atime, mtime, req) => {
    checkFd(fd);
    return effect(req, 'futime', undefined, undefined, NUMBERS.futimes, fd, nanoseconds(atime), nanoseconds(mtime));
  };
};

Object.assign(module.exports, { eachEntry, eachEntryOf, inEncoding, bytesOf });
