// What: operations on whole trees that Node does in C++: recursive mkdir and rm, and the parts of cp.
// Next: file-handle.js.
'use strict';

const { NUMBERS, ERRNO, sys } = require('./calls.js');
const { answer, effect, failure, isFailure, textOf } = require('./answers.js');
const { eachEntry } = require('./names.js');
const { nameOf } = require('../errno.js');

const S_IFMT = 0o170000;
const S_IFDIR = 0o040000;
const S_IFLNK = 0o120000;
const S_IFREG = 0o100000;
const S_IFSOCK = 0o140000;
const S_IFIFO = 0o010000;
const MODE = 1;
const DEVICE = 0;
const INODE = 7;
const ATIME = 10;
const MTIME = 12;
const NS = 1e9;
const COPY_EXCLUSIVE = 1;

function statOf(path, follow) {
  const values = new Float64Array(18);
  const result = sys(NUMBERS.stat, path, values, follow ? 1 : 0);
  return result < 0 ? result : values;
}

const typeOf = (stats) => (isFailure(stats) ? 0 : stats[MODE] & S_IFMT);
const isDirectory = (path) => typeOf(statOf(path, true)) === S_IFDIR;
const parentOf = (path) => {
  const trimmed = path.replace(/(?<=.)\/+$/, '');
  const at = trimmed.lastIndexOf('/');
  return at <= 0 ? (at === 0 ? '/' : '.') : trimmed.slice(0, at);
};
const join = (folder, name) => (folder.endsWith('/') ? `${folder}${name}` : `${folder}/${name}`);

// The first directory that had to be made, or undefined.
function makeTree(path, mode) {
  const missing = [];
  let at = textOf(path);
  for (;;) {
    const result = sys(NUMBERS.mkdir, at, mode);
    if (result >= 0) break;
    if (result === ERRNO.ENOENT && parentOf(at) !== at) {
      missing.push(at);
      at = parentOf(at);
      continue;
    }
    if (result === ERRNO.EEXIST || isDirectory(at)) {
      if (isDirectory(at)) {
        if (missing.length === 0) return undefined;
        return makeMissing(missing, mode);
      }
      // A file where a directory must be: the caller's own path exists, or one above it is no directory.
      return missing.length === 0 ? ERRNO.EEXIST : ERRNO.ENOTDIR;
    }
    return result;
  }
  const rest = makeMissing(missing, mode);
  return typeof rest === 'number' ? rest : at;
}

function makeMissing(missing, mode) {
  const first = missing.at(-1);
  while (missing.length > 0) {
    const result = sys(NUMBERS.mkdir, missing.pop(), mode);
    if (result < 0 && result !== ERRNO.EEXIST) return result;
  }
  return first;
}

// Removes a tree, what is deepest first; a loop and not a recursion, because a guest may nest deeper than the stack.
function removeTree(path) {
  const waiting = [{ path, opened: false }];
  while (waiting.length > 0) {
    const top = waiting.at(-1);
    if (top.opened) {
      const result = sys(NUMBERS.rmdir, top.path);
      if (result < 0 && result !== ERRNO.ENOENT) return result;
      waiting.pop();
      continue;
    }
    const stats = statOf(top.path, false);
    if (typeOf(stats) !== S_IFDIR) {
      const result = isFailure(stats) ? stats : sys(NUMBERS.unlink, top.path);
      if (result < 0 && result !== ERRNO.ENOENT) return result;
      waiting.pop();
      continue;
    }
    top.opened = true;
    const result = eachEntry(top.path, (bytes) => waiting.push({ path: entryPath(top.path, bytes), opened: false }));
    if (result < 0) return result;
  }
  return undefined;
}

// Names need not be UTF-8, so paths of entries stay bytes.
function entryPath(folder, name) {
  const begin = typeof folder === 'string' ? new Uint8Array(native.encode(folder, native.encodings.utf8)) : folder;
  const path = new Uint8Array(begin.byteLength + 1 + name.byteLength);
  path.set(begin);
  path[begin.byteLength] = 47;
  path.set(name, begin.byteLength + 1);
  return path;
}

function coded(code, message) {
  const error = new Error(message);
  error.code = code;
  return error;
}

const REMOVAL = {
  EPERM: 'Operation not permitted',
  ENOTEMPTY: 'Directory not empty',
  ENOTDIR: 'Not a directory',
  EACCES: 'Permission denied',
};

function rmSync(path, _maxRetries, recursive) {
  const stats = statOf(path, false);
  if (isFailure(stats)) return;
  const shown = textOf(path);
  if (typeOf(stats) === S_IFDIR && !recursive) throw coded('ERR_FS_EISDIR', `Path is a directory: ${shown}`);
  const result = removeTree(path);
  if (result === undefined) return;
  const code = nameOf(result);
  const error = failure(result, 'rm', path);
  error.message = `${code}: ${REMOVAL[code] ?? 'Unknown error'}: ${shown}, rm '${shown}'`;
  throw error;
}

function checkCopy(src, dest, dereference, recursive) {
  const from = textOf(src);
  const to = textOf(dest);
  const source = statOf(from, dereference);
  if (isFailure(source)) throw failure(source, dereference ? 'stat' : 'lstat', src);
  const target = statOf(to, dereference);
  const sourceIsDirectory = typeOf(source) === S_IFDIR;
  if (!isFailure(target)) {
    if (same(source, target)) throw coded('ERR_FS_CP_EINVAL', `src and dest cannot be the same ${to}`);
    const targetIsDirectory = typeOf(target) === S_IFDIR;
    if (sourceIsDirectory && !targetIsDirectory)
      throw coded('ERR_FS_CP_DIR_TO_NON_DIR', `Cannot overwrite non-directory ${to} with directory ${from}`);
    if (!sourceIsDirectory && targetIsDirectory)
      throw coded('ERR_FS_CP_NON_DIR_TO_DIR', `Cannot overwrite directory ${to} with non-directory ${from}`);
  }
  if (sourceIsDirectory && isInside(from, to, source))
    throw coded('ERR_FS_CP_EINVAL', `Cannot copy ${slashed(from)} to a subdirectory of self ${to}`);
  if (sourceIsDirectory && !recursive)
    throw coded('ERR_FS_EISDIR', `Recursive option not enabled, cannot copy a directory: ${slashed(from)}`);
  if (typeOf(source) === S_IFSOCK) throw coded('ERR_FS_CP_SOCKET', `Cannot copy a socket file: ${to}`);
  if (typeOf(source) === S_IFIFO) throw coded('ERR_FS_CP_FIFO_PIPE', `Cannot copy a FIFO pipe: ${to}`);
  if (isFailure(target)) {
    const result = makeTree(parentOf(to), 0o777);
    if (isFailure(result)) throw failure(result, 'mkdir', parentOf(to));
  }
}

// Node names a source directory with a slash.
const slashed = (path) => (path.endsWith('/') ? path : `${path}/`);
const same = (a, b) => a[INODE] === b[INODE] && a[DEVICE] === b[DEVICE];

// Whether `to`, or a directory above it, is the source.
function isInside(from, to, source) {
  if (to.startsWith(from.endsWith('/') ? from : `${from}/`)) return true;
  for (let at = parentOf(to); ; at = parentOf(at)) {
    const stats = statOf(at, true);
    if (!isFailure(stats) && same(stats, source)) return true;
    if (at === parentOf(at)) return false;
  }
}

function overrideFile(src, dest, mode, preserveTimestamps) {
  checked(sys(NUMBERS.unlink, dest), 'unlink', dest);
  checked(sys(NUMBERS.copyFile, src, dest, mode ?? 0), 'copyfile', src, dest);
  if (preserveTimestamps) copyTimes(src, dest);
}

function checked(result, syscall, path, dest) {
  if (result < 0) throw failure(result, syscall, path, dest);
}

function copyTimes(src, dest) {
  const stats = statOf(src, true);
  if (isFailure(stats)) throw failure(stats, 'stat', src);
  const at = (index) => stats[index] * NS + stats[index + 1];
  checked(sys(NUMBERS.utimes, dest, at(ATIME), at(MTIME), 1), 'utime', dest);
}

// What is copied where; directories wait in a list, as above.
function copyTree(src, dest, force, dereference, errorOnExist, verbatimSymlinks, preserveTimestamps) {
  const options = { force, dereference, errorOnExist, verbatimSymlinks, preserveTimestamps };
  const folders = [[textOf(src), textOf(dest)]];
  for (let i = 0; i < folders.length; i++) {
    const [from, to] = folders[i];
    const made = makeTree(to, 0o777);
    if (isFailure(made)) throw failure(made, 'cp', to);
    const names = [];
    checked(
      eachEntry(from, (bytes) => names.push(native.decode(bytes, 0, bytes.byteLength, native.encodings.utf8))),
      'cp',
      from,
    );
    for (const name of names) copyEntry(join(from, name), join(to, name), options, folders);
  }
  // The modes last: a directory may be closed to writing. The deepest first, so that times stay.
  for (const [from, to] of folders.reverse()) {
    const stats = statOf(from, true);
    if (isFailure(stats)) continue;
    checked(sys(NUMBERS.chmod, to, stats[MODE] & 0o7777, 1), 'cp', to);
    if (preserveTimestamps) copyTimes(from, to);
  }
}

function copyEntry(from, to, options, folders) {
  const stats = statOf(from, options.dereference);
  if (isFailure(stats)) throw failure(stats, options.dereference ? 'stat' : 'cp', from);
  const type = typeOf(stats);
  if (type === S_IFDIR) {
    folders.push([from, to]);
  } else if (type === S_IFLNK) {
    copyLink(from, to, options);
  } else if (type === S_IFREG) {
    const result = sys(NUMBERS.copyFile, from, to, options.force ? 0 : COPY_EXCLUSIVE);
    if (result === ERRNO.EEXIST && !options.errorOnExist) return;
    if (result === ERRNO.EEXIST)
      throw coded(
        'ERR_FS_CP_EEXIST',
        `[ERR_FS_CP_EEXIST]: Target already exists: cp returned EEXIST (${to} already exists) ${to}`,
      );
    checked(result, 'cp', to);
    if (options.preserveTimestamps) copyTimes(from, to);
  }
}

function copyLink(from, to, { verbatimSymlinks }) {
  const target = linkTarget(from);
  const absolute = verbatimSymlinks || target.startsWith('/') ? target : join(parentOf(from), target);
  const existing = statOf(to, false);
  if (typeOf(existing) === S_IFLNK) {
    const current = linkTarget(to);
    if (isDirectory(target) && isBelow(current, target))
      throw coded('ERR_FS_CP_EINVAL', `Cannot copy ${target} to a subdirectory of self ${current}`);
    if (isDirectory(to) && isBelow(target, current))
      throw coded('ERR_FS_CP_SYMLINK_TO_SUBDIRECTORY', `cannot overwrite ${current} with ${target}`);
    checked(sys(NUMBERS.unlink, to), 'cp', to);
  } else if (!isFailure(existing)) {
    throw failure(ERRNO.EEXIST, 'cp', to);
  }
  checked(sys(NUMBERS.symlink, absolute, to), 'cp', to);
}

const isBelow = (path, folder) => path === folder || path.startsWith(`${folder}/`);

function linkTarget(path) {
  const bytes = new Uint8Array(4096);
  const length = sys(NUMBERS.readlink, path, bytes);
  checked(length, 'readlink', path);
  return native.decode(bytes, 0, length, native.encodings.utf8);
}

module.exports = function installTrees(binding) {
  binding.mkdir = (path, mode, recursive, req) =>
    recursive
      ? answer(req, 'mkdir', path, undefined, () => makeTree(path, mode))
      : effect(req, 'mkdir', path, undefined, NUMBERS.mkdir, path, mode);
  binding.rmSync = rmSync;
  binding.cpSyncCheckPaths = checkCopy;
  binding.cpSyncOverrideFile = overrideFile;
  binding.cpSyncCopyDir = copyTree;
};
