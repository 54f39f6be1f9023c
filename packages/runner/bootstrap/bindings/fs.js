// What: the filesystem binding (node_file.cc), as far as a guest without a filesystem has one: descriptors 0, 1 and 2.
// Everything that names a path throws at use; the loaders' question whether a path exists is answered with no.
// Known limit: an asynchronous read of standard input that finds nothing there yet blocks this VM until there is something.
// Next: ../requests.js for the three ways a call can answer; issue by issue the virtual filesystem's calls come here.
'use strict';

const { uvException } = require('../errno.js');
const { FSReqCallback, dispatch } = require('../requests.js');

const EBADF = -9;
const ENOENT = -2;
const S_IFIFO = 0o010000;
const STAT_FIELDS = 18;
const READ_CHUNK = 65536;

const isStandard = (fd) => fd === 0 || fd === 1 || fd === 2;

module.exports = function fs(binding, getInternalBinding) {
  const kUsePromises = getInternalBinding('symbols').fs_use_promises_symbol;
  binding.kUsePromises = kUsePromises;
  const answer = (req, syscall, run) => dispatch(req, kUsePromises, syscall, run);
  binding.FSReqCallback = FSReqCallback;

  binding.writeBuffer = (fd, view, offset, length, position, req, ctx) =>
    recording(ctx, 'write', () => answer(req, 'write', () => writeBytes(fd, view, offset ?? 0, length ?? view.byteLength)));
  binding.writeString = (fd, text, position, encoding, req, ctx) =>
    recording(ctx, 'write', () => answer(req, 'write', () => writeText(fd, text, encoding)));
  binding.writeBuffers = (fd, views, position, req) =>
    answer(req, 'write', () => {
      let total = 0;
      for (const view of views) {
        const written = writeBytes(fd, view, 0, view.byteLength);
        if (written < 0) return written;
        total += written;
      }
      return total;
    });
  binding.read = (fd, view, offset, length, position, req) => answer(req, 'read', () => read(fd, view, offset, length));
  binding.readBuffers = (fd, views, position, req) =>
    answer(req, 'read', () => {
      let total = 0;
      for (const view of views) {
        const count = read(fd, view, 0, view.byteLength);
        if (count < 0) return count;
        total += count;
        if (count < view.byteLength) break;
      }
      return total;
    });
  binding.fsync = binding.fdatasync = (fd, req) => answer(req, 'fsync', () => (isStandard(fd) ? undefined : EBADF));
  // Standard descriptors stay open: the host owns them.
  binding.close = (fd, req) => answer(req, 'close', () => (isStandard(fd) ? undefined : EBADF));

  binding.fstat = (fd, bigint, req, shouldNotThrow) => {
    if (!isStandard(fd) && req === undefined && shouldNotThrow) return undefined;
    return answer(req, 'fstat', () => (isStandard(fd) ? stat(fd, bigint) : EBADF));
  };

  const readFileUtf8 = binding.readFileUtf8;
  binding.readFileUtf8 = (path, flags) => (typeof path === 'number' ? readAllText(path) : readFileUtf8(path, flags));
  const writeFileUtf8 = binding.writeFileUtf8;
  binding.writeFileUtf8 = (path, text, flags, mode) => {
    if (typeof path !== 'number') return writeFileUtf8(path, text, flags, mode);
    const result = writeText(path, text, 'utf8');
    if (result < 0) throw uvException(result, 'write');
    return undefined;
  };

  // What the loaders ask.
  binding.internalModuleStat = () => ENOENT;
  binding.existsSync = () => false;
  binding.getFormatOfExtensionlessFile = () => 0;
};

// `ctx` is how a synchronous write reports an error: the caller throws, so that the stack begins there.
function recording(ctx, syscall, run) {
  if (ctx === undefined) return run();
  try {
    return run();
  } catch (error) {
    if (error.syscall !== syscall) throw error;
    ctx.errno = error.errno;
    ctx.code = error.code;
    ctx.syscall = syscall;
    return undefined;
  }
}

function writeBytes(fd, view, offset, length) {
  if (!isStandard(fd)) return EBADF;
  return native.write(fd, new Uint8Array(view.buffer, view.byteOffset + offset, length));
}

function writeText(fd, text, encoding) {
  if (!isStandard(fd)) return EBADF;
  const name = String(encoding ?? 'utf8')
    .toLowerCase()
    .replace(/^(ucs-?2|utf-16le)$/, 'utf16le');
  if (name === 'utf8' || name === 'utf-8') return native.write(fd, text);
  const number = name === 'binary' ? native.encodings.latin1 : (native.encodings[name] ?? native.encodings.utf8);
  return native.write(fd, native.encode(text, number));
}

function read(fd, view, offset, length) {
  return isStandard(fd) ? native.read(fd, view, offset, length) : EBADF;
}

function readAllText(fd) {
  const chunks = [];
  let total = 0;
  for (;;) {
    const chunk = new Uint8Array(READ_CHUNK);
    const count = read(fd, chunk, 0, READ_CHUNK);
    if (count < 0) throw uvException(count, 'read');
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
  return native.decode(bytes, 0, total, native.encodings.utf8);
}

// A standard descriptor looks like a pipe: readable in order, without a size.
function stat(fd, bigint) {
  const fields = new Array(STAT_FIELDS).fill(0);
  fields[1] = S_IFIFO | 0o600;
  fields[2] = 1;
  fields[6] = 4096;
  fields[7] = fd;
  return bigint ? BigInt64Array.from(fields, BigInt) : Float64Array.from(fields);
}
