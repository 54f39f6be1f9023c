// The functions of the filesystem binding that only the module loaders call. The functions return
// the format of a file without an extension, and the main file of a package by the rules before
// `exports` (node_file.cc, `LegacyMainResolve`). Next: ../internal-bindings/modules.js.
'use strict';

const context = require('../context.js');
const { NUMBERS, sys } = require('./calls.js');

const WASM_MAGIC = [0, 0x61, 0x73, 0x6d];
const FORMAT_JAVASCRIPT = 0;
const FORMAT_WASM = 1;
const MAINS = ['', '.js', '.json', '.node', '/index.js', '/index.json', '/index.node'];
const INDEXES = ['index.js', 'index.json', 'index.node'];

const isFile = (path) => sys(NUMBERS.moduleStat, path) === 0;

module.exports = function installForLoaders(binding) {
  binding.getFormatOfExtensionlessFile = (path) => {
    const fd = sys(NUMBERS.open, path, 0, 0);
    if (fd < 0) return FORMAT_JAVASCRIPT;
    const magic = new Uint8Array(WASM_MAGIC.length);
    const count = sys(NUMBERS.read, fd, magic, 0);
    sys(NUMBERS.close, fd);
    return count === magic.length && WASM_MAGIC.every((byte, index) => magic[index] === byte) ? FORMAT_WASM : FORMAT_JAVASCRIPT;
  };

  // Returns an index into Node's list of the files that `main` can mean.
  binding.legacyMainResolve = (folder, main, base) => {
    const { fileURLToPath } = context.requireBuiltin('internal/url');
    if (typeof main === 'string') {
      const found = MAINS.findIndex((suffix) => isFile(`${folder}${main.replace(/^\.?\//, '')}${suffix}`));
      if (found !== -1) return found;
    }
    const found = INDEXES.findIndex((name) => isFile(folder + name));
    if (found !== -1) return MAINS.length + found;
    const error = new Error(
      `Cannot find package '${folder.replace(/\/$/, '')}'${base === undefined ? '' : ` imported from ${fileURLToPath(base)}`}`,
    );
    error.code = 'ERR_MODULE_NOT_FOUND';
    throw error;
  };
};
