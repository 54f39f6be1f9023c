// The parts of `fs.cpSync` that Node does in C++. Next: file-handle.js.
'use strict';

const { NUMBERS, ERRNO, sys, copyFile } = require('./calls.js');
const { failure, isFailure, textOf } = require('./answers.js');
const { coded } = require('./checks.js');
const { eachEntry } = require('./names.js');
const { makeTree } = require('./trees.js');
const { TYPES, MODE, statOf, typeOf, isDirectory, parentOf, join } = require('./tree-facts.js');

const DEVICE = 0;
const INODE = 7;
const ATIME = 10;
const MTIME = 12;
const NS = 1e9;
const COPY_EXCLUSIVE = 1;

function checkCopy(src, dest, dereference, recursive) {
  const from = textOf(src);
  const to = textOf(dest);
  const source = statOf(from, dereference);
  if (isFailure(source)) throw failure(source, dereference ? 'stat' : 'lstat', src);
  const target = statOf(to, dereference);
  const sourceIsDirectory = typeOf(source) === TYPES.directory;
  if (!isFailure(target)) {
    if (same(source, target)) throw coded(Error, 'ERR_FS_CP_EINVAL', `src and dest cannot be the same ${to}`);
    const targetIsDirectory = typeOf(target) === TYPES.directory;
    if (sourceIsDirectory && !targetIsDirectory)
      throw coded(Error, 'ERR_FS_CP_DIR_TO_NON_DIR', `Cannot overwrite non-directory ${to} with directory ${from}`);
    if (!sourceIsDirectory && targetIsDirectory)
      throw coded(Error, 'ERR_FS_CP_NON_DIR_TO_DIR', `Cannot overwrite directory ${to} with non-directory ${from}`);
  }
  if (sourceIsDirectory && isInside(from, to, source))
    throw coded(Error, 'ERR_FS_CP_EINVAL', `Cannot copy ${slashed(from)} to a subdirectory of self ${to}`);
  if (sourceIsDirectory && !recursive)
    throw coded(Error, 'ERR_FS_EISDIR', `Recursive option not enabled, cannot copy a directory: ${slashed(from)}`);
  if (typeOf(source) === TYPES.socket) throw coded(Error, 'ERR_FS_CP_SOCKET', `Cannot copy a socket file: ${to}`);
  if (typeOf(source) === TYPES.pipe) throw coded(Error, 'ERR_FS_CP_FIFO_PIPE', `Cannot copy a FIFO pipe: ${to}`);
  if (isFailure(target)) {
    const result = makeTree(parentOf(to), 0o777);
    if (isFailure(result)) throw failure(result, 'mkdir', parentOf(to));
  }
}

// Node names a source directory with a slash at the end.
const slashed = (path) => (path.endsWith('/') ? path : `${path}/`);
const same = (a, b) => a[INODE] === b[INODE] && a[DEVICE] === b[DEVICE];

// Returns whether the path `to` is the source or is below the source.
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
  checked(copyFile(src, dest, mode ?? 0), 'copyfile', src, dest);
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

// Copies a tree. A list stores the pending directories, because a tree may be deeper than the stack
// allows.
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
  // Modes are set last, because a mode may forbid to write to the directory. The deepest directory
  // is first, so that no later change in a directory updates the directory's times.
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
  if (type === TYPES.directory) {
    folders.push([from, to]);
  } else if (type === TYPES.link) {
    copyLink(from, to, options);
  } else if (type === TYPES.file) {
    const result = copyFile(from, to, options.force ? 0 : COPY_EXCLUSIVE);
    if (result === ERRNO.EEXIST && !options.errorOnExist) return;
    if (result === ERRNO.EEXIST)
      throw coded(
        Error,
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
  if (typeOf(existing) === TYPES.link) {
    const current = linkTarget(to);
    if (isDirectory(target) && isBelow(current, target))
      throw coded(Error, 'ERR_FS_CP_EINVAL', `Cannot copy ${target} to a subdirectory of self ${current}`);
    if (isDirectory(to) && isBelow(target, current))
      throw coded(Error, 'ERR_FS_CP_SYMLINK_TO_SUBDIRECTORY', `cannot overwrite ${current} with ${target}`);
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

module.exports = function installCopies(binding) {
  binding.cpSyncCheckPaths = checkCopy;
  binding.cpSyncOverrideFile = overrideFile;
  binding.cpSyncCopyDir = copyTree;
};
