// The filesystem binding (node_file.cc), over the kernel's filesystem. Each topic is a file in
// ../fs, and each file extends the binding's one skeleton. Next: ../fs/calls.js (the kernel's
// calls), ../fs/answers.js (the three ways of calling), then the files that this file installs.
'use strict';

const { FSReqCallback, usePromisesSymbol } = require('../fs/answers.js');
const { NUMBERS, sys } = require('../fs/calls.js');
const installStats = require('../fs/stats.js');
const installIo = require('../fs/io.js');
const installNames = require('../fs/names.js');
const installTrees = require('../fs/trees.js');
const installCopies = require('../fs/copies.js');
const installFileHandle = require('../fs/file-handle.js');
const installStatWatcher = require('../fs/stat-watcher.js');
const installForLoaders = require('../fs/for-loaders.js');

module.exports = function fs(binding, getInternalBinding) {
  const kUsePromises = getInternalBinding('symbols').fs_use_promises_symbol;
  binding.kUsePromises = kUsePromises;
  usePromisesSymbol(kUsePromises);
  binding.FSReqCallback = FSReqCallback;
  installStats(binding);
  installIo(binding);
  installNames(binding);
  installTrees(binding);
  installCopies(binding);
  installFileHandle(binding);
  installStatWatcher(binding);
  installForLoaders(binding);
  binding.internalModuleStat = (path) => sys(NUMBERS.moduleStat, path);
};
