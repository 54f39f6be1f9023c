// Opens, reads and writes files. The kernel's file calls never wait. If a call would have to wait,
// this file calls the ABI's imports `read` and `write`, which block only this VM. A read with a
// callback does not block: the read waits for the descriptor, like a read of a socket. Next:
// names.js.
'use strict';

const { NUMBERS, ERRNO, MAX_TRANSFER, O_RDONLY, sys, readFile } = require('./calls.js');
const { FILE_KIND, IN } = require('../net/calls.js');
const { NotReady, answer, value, effect, failure, isFailure } = require('./answers.js');
const { checkFd } = require('./checks.js');

const CHUNK = 65536;
const SMALL_FILE = 8192;
const NO_POSITION = -1;
const isStandard = (fd) => fd >= 0 && fd <= 2;

// Node passes null, a number or a bigint. Any value but a position of at least 0 means the
// descriptor's own position.
function positionOf(position) {
  if (typeof position === 'bigint') return position >= 0n ? Number(position) : NO_POSITION;
  return typeof position === 'number' && position >= 0 ? position : NO_POSITION;
}

// Returns whether the imports `read` and `write` must do the work: the kernel would have to wait,
// or no kernel exists and `fd` is a standard descriptor.
const isForImports = (fd, result) => result === ERRNO.EAGAIN || (result === ERRNO.ENOSYS && isStandard(fd));

function readSome(fd, view, offset, length, position) {
  const count = inCalls(NUMBERS.read, fd, part(view, offset, length), positionOf(position));
  return isForImports(fd, count) ? native.read(fd, view, offset, length) : count;
}

// Reads or writes `bytes`. One system call transfers at most MAX_TRANSFER bytes, and Linux reads
// and writes any number of a file's bytes at once. Returns the number of bytes, or a negative errno
// if that number is 0.
function inCalls(number, fd, bytes, position) {
  let done = sys(number, fd, bytes, position);
  let count = done;
  while (count === MAX_TRANSFER && done < bytes.byteLength) {
    count = sys(number, fd, bytes.subarray(done), position === NO_POSITION ? NO_POSITION : position + done);
    done += Math.max(count, 0);
  }
  return done;
}

// Reads for a request. The read completes when the descriptor has data.
function readLater(fd, view, offset, length, position) {
  const count = inCalls(NUMBERS.read, fd, part(view, offset, length), positionOf(position));
  if (count === ERRNO.EAGAIN) return new NotReady(fd, IN, count);
  return isForImports(fd, count) ? native.read(fd, view, offset, length) : count;
}

function writeSome(fd, view, offset, length, position) {
  const bytes = part(view, offset, length);
  const count = inCalls(NUMBERS.write, fd, bytes, positionOf(position));
  if (count === length || (count < 0 && !isForImports(fd, count))) return count;
  if (count >= 0 && !isStandard(fd) && sys(NUMBERS.kind, fd) === FILE_KIND) return count;
  return writeRest(fd, bytes, Math.max(count, 0));
}

// Writes `bytes` from the offset `from` on, and blocks while a pipe is full. Returns the number of
// written bytes with the first `from` bytes, or a negative errno if that number is 0.
function writeRest(fd, bytes, from) {
  let done = from;
  while (done < bytes.byteLength) {
    const rest = bytes.subarray(done);
    let count = sys(NUMBERS.write, fd, rest, NO_POSITION);
    if (isForImports(fd, count)) count = native.write(fd, rest);
    if (count <= 0) return done > 0 ? done : count;
    done += count;
  }
  return done;
}

function part(view, offset, length) {
  return new Uint8Array(view.buffer, view.byteOffset + offset, length);
}

function encodingNumber(encoding) {
  if (encoding === 'utf8' || encoding === undefined || encoding === null) return native.encodings.utf8;
  const name = String(encoding ?? 'utf8').toLowerCase();
  if (name === 'binary') return native.encodings.latin1;
  return native.encodings[name.replace(/^(?:ucs-?2|utf-16le)$/, 'utf16le').replace(/^utf-8$/, 'utf8')] ?? native.encodings.utf8;
}

function writeText(fd, text, encoding, position) {
  const number = encodingNumber(encoding);
  if (number === native.encodings.utf8 && !isStandard(fd)) {
    const count = sys(NUMBERS.write, fd, text, positionOf(position));
    if (count === MAX_TRANSFER) return writeRestOfText(fd, text, position);
    if (!isForImports(fd, count)) return count;
  }
  const bytes = new Uint8Array(native.encode(text, number));
  return writeSome(fd, bytes, 0, bytes.byteLength, position);
}

// Writes the rest of a text after the first MAX_TRANSFER bytes. Returns the number of bytes with
// the first bytes.
function writeRestOfText(fd, text, position) {
  const bytes = new Uint8Array(native.encode(text, native.encodings.utf8));
  const at = positionOf(position);
  const rest = bytes.byteLength - MAX_TRANSFER;
  if (rest === 0) return MAX_TRANSFER;
  return MAX_TRANSFER + Math.max(writeSome(fd, bytes, MAX_TRANSFER, rest, at === NO_POSITION ? null : at + MAX_TRANSFER), 0);
}

// Transfers views one after the other, up to an error or a view that is transferred only in part.
// Returns the number of transferred bytes, or the negative errno if that number is 0.
function each(views, position, transfer) {
  let total = 0;
  let at = positionOf(position);
  for (const view of views) {
    const count = view.byteLength === 0 ? 0 : transfer(view, at);
    if (count < 0) return total > 0 ? total : count;
    total += count;
    if (at !== NO_POSITION) at += count;
    if (count < view.byteLength) break;
  }
  return total;
}

// Reads a whole file. A path that is opened only for reading needs one call, or two if the file is
// large. A descriptor, or a path with other flags, is read piece by piece.
function readAll(target, flags) {
  // The first buffer is small, because most files fit.
  if (typeof target !== 'number' && flags === O_RDONLY) return readFile(target, new Uint8Array(SMALL_FILE));
  const fd = typeof target === 'number' ? target : sys(NUMBERS.open, target, flags, 0o666);
  if (fd < 0) return fd === target ? ERRNO.EBADF : fd;
  const bytes = readToEnd(fd);
  if (fd !== target) sys(NUMBERS.close, fd);
  return bytes;
}

function readToEnd(fd) {
  const chunks = [];
  let total = 0;
  for (;;) {
    const chunk = new Uint8Array(CHUNK);
    const count = readSome(fd, chunk, 0, CHUNK, null);
    if (count < 0) return count;
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    total += count;
  }
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

// The offset that marks the errno of a failed `open`. The caller's error then names `open` instead
// of `write`.
const NOT_OPENED = -10_000;

function writeAll(target, text, flags, mode) {
  const fd = typeof target === 'number' ? target : sys(NUMBERS.open, target, flags, mode);
  if (fd < 0) return fd === target ? ERRNO.EBADF : fd + NOT_OPENED;
  const bytes = typeof text === 'string' ? new Uint8Array(native.encode(text, native.encodings.utf8)) : text;
  let at = 0;
  let result = 0;
  while (at < bytes.byteLength && result >= 0) {
    result = writeSome(fd, bytes, at, bytes.byteLength - at, null);
    at += Math.max(result, 0);
  }
  if (fd !== target) sys(NUMBERS.close, fd);
  return result;
}

module.exports = function installIo(binding) {
  binding.open = (path, flags, mode, req) => value(req, 'open', path, undefined, NUMBERS.open, path, flags, mode);
  binding.close = (fd, req) => {
    checkFd(fd);
    return effect(req, 'close', undefined, undefined, NUMBERS.close, fd);
  };
  binding.read = (fd, view, offset, length, position, req) => {
    checkFd(fd);
    if (req !== undefined) return answer(req, 'read', undefined, undefined, () => readLater(fd, view, offset, length, position));
    const count = readSome(fd, view, offset, length, position);
    if (count < 0) throw failure(count, 'read');
    return count;
  };
  binding.readBuffers = (fd, views, position, req) => {
    checkFd(fd);
    const read = (view, at) => readSome(fd, view, 0, view.byteLength, at);
    return answer(req, 'read', undefined, undefined, () => each(views, position, read));
  };
  // A synchronous caller that makes the error passes `ctx`, which receives the error's fields. The
  // error's stack then begins in the caller.
  binding.writeBuffer = (fd, view, offset, length, position, req, ctx) => {
    checkFd(fd);
    const run = () => writeSome(fd, view, offset ?? 0, length ?? view.byteLength - (offset ?? 0), position);
    return ctx === undefined ? answer(req, 'write', undefined, undefined, run) : recorded(ctx, run());
  };
  binding.writeString = (fd, text, position, encoding, req, ctx) => {
    checkFd(fd);
    const run = () => writeText(fd, text, encoding, position);
    return ctx === undefined ? answer(req, 'write', undefined, undefined, run) : recorded(ctx, run());
  };
  binding.writeBuffers = (fd, views, position, req) => {
    checkFd(fd);
    const write = (view, at) => writeSome(fd, view, 0, view.byteLength, at);
    return answer(req, 'write', undefined, undefined, () => each(views, position, write));
  };
  binding.readFileUtf8 = (target, flags) => {
    const bytes = readAll(target, flags);
    if (!isFailure(bytes)) return native.decode(bytes, 0, bytes.byteLength, native.encodings.utf8);
    // A directory can be opened but not read.
    if (typeof target === 'number' || bytes === ERRNO.EISDIR) throw failure(bytes, 'read');
    throw failure(bytes, 'open', target);
  };
  binding.writeFileUtf8 = (target, text, flags, mode) => {
    const result = writeAll(target, text, flags, mode);
    if (result >= 0) return;
    throw result < NOT_OPENED ? failure(result - NOT_OPENED, 'open', target) : failure(result, 'write');
  };
  const flush = (name) => {
    binding[name] = (fd, req) => {
      checkFd(fd);
      return effect(req, name, undefined, undefined, NUMBERS.fsync, fd);
    };
  };
  flush('fsync');
  flush('fdatasync');
  binding.ftruncate = (fd, length, req) => {
    checkFd(fd);
    return effect(req, 'ftruncate', undefined, undefined, NUMBERS.ftruncate, fd, length);
  };
};

function recorded(ctx, result) {
  if (result >= 0) return result;
  const { errno, code } = failure(result, 'write');
  Object.assign(ctx, { errno, code, syscall: 'write' });
  return undefined;
}

module.exports.readSome = readSome;
