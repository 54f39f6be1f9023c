// Finds the file of the package undici that compiles llhttp as a WebAssembly module. This file
// alone gets the object of undici-parser.js as `WebAssembly`, so that the unmodified package uses
// the llhttp in the guest. Programs have no WebAssembly. A bundle that contains undici has another
// name and gets nothing. Next: internal-bindings/contextify.js, which compiles the file.
'use strict';

const { nearestPackage } = require('../modules/packages.js');
const { webAssembly } = require('./undici-parser.js');

// The file's name since undici 6, in undici 5.26 and newer, and before.
const FILE = /\/lib\/(?:dispatcher\/client-h1|dispatcher\/client|client)\.js$/;

// Returns the object that the file at `path` sees as `WebAssembly`, or undefined.
function webAssemblyFor(path) {
  // The package may be installed under another name, so the manifest decides.
  return FILE.test(path) && nearestPackage(path)?.[0] === 'undici' ? webAssembly : undefined;
}

module.exports = { webAssemblyFor };
