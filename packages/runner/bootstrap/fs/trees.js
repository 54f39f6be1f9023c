// Operations on whole trees that Node does in C++: recursive mkdir and rm. Next: copies.js.
'use strict';

const { NUMBERS, ERRNO, sys } = require('./calls.js');
const { answer, effect, failure, isFailure, textOf } = require('./answers.js');
const { coded } = require('./checks.js');
const { eachEntry } = require('./names.js');
const { nameOf } = require('../errors/errno.js');
const { TYPES, statOf, typeOf, isDirectory, parentOf } = require('./tree-facts.js');

// Makes a directory and its missing parents. Returns the first directory that was made, undefined
// if no directory was missing, or a negative errno.
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
      // A file is in the place of a directory: the caller's own path exists, or a path above the
      // caller's path is no directory.
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

// Removes a tree, the deepest entries first. Returns undefined or a negative errno. A loop replaces
// recursion, because a tree may be deeper than the stack allows.
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
    if (typeOf(stats) !== TYPES.directory) {
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

// Joins paths as bytes, because names need not be UTF-8.
function entryPath(folder, name) {
  const begin = typeof folder === 'string' ? new Uint8Array(native.encode(folder, native.encodings.utf8)) : folder;
  const path = new Uint8Array(begin.byteLength + 1 + name.byteLength);
  path.set(begin);
  path[begin.byteLength] = 47;
  path.set(name, begin.byteLength + 1);
  return path;
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
  if (typeOf(stats) === TYPES.directory && !recursive) throw coded(Error, 'ERR_FS_EISDIR', `Path is a directory: ${shown}`);
  const result = removeTree(path);
  if (result === undefined) return;
  const code = nameOf(result);
  const error = failure(result, 'rm', path);
  error.message = `${code}: ${REMOVAL[code] ?? 'Unknown error'}: ${shown}, rm '${shown}'`;
  throw error;
}

module.exports = function installTrees(binding) {
  binding.mkdir = (path, mode, recursive, req) =>
    recursive
      ? answer(req, 'mkdir', path, undefined, () => makeTree(path, mode))
      : effect(req, 'mkdir', path, undefined, NUMBERS.mkdir, path, mode);
  binding.rmSync = rmSync;
};

module.exports.makeTree = makeTree;
