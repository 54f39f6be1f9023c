// `package.json` files as Node's loaders read them (node_modules.cc). A process reads each file
// once, and searches upwards from a path. Missing files are not remembered, because a program may
// write a `package.json` file and then load the package. Next: internal-bindings/modules.js.
'use strict';

const context = require('../context.js');
const { readFile } = require('../fs/calls.js');

const SIZE = 16384;
const MANIFEST = 'package.json';

// Path → [name, main, type, imports, exports, path]. Each process makes its own map.
let known;

function forget() {
  known = undefined;
}

function readText(path) {
  const bytes = readFile(path, new Uint8Array(SIZE));
  return typeof bytes === 'number' ? undefined : native.decode(bytes, 0, bytes.byteLength, native.encodings.utf8);
}

// Reads a `package.json` file. Returns undefined if the file cannot be read. Throws if the text is
// no JSON object; the error names `importer` and `specifier`.
function readPackage(path, importer, specifier) {
  const before = known?.get(path);
  if (before !== undefined) return before;
  const text = readText(path);
  if (text === undefined) return undefined;
  let manifest;
  try {
    manifest = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {}
  if (typeof manifest !== 'object' || manifest === null || Array.isArray(manifest)) throw invalid(path, importer, specifier);
  const { name, main, type, imports, exports } = manifest;
  const serialized = [
    typeof name === 'string' ? name : undefined,
    typeof main === 'string' ? main : undefined,
    type === 'module' || type === 'commonjs' ? type : 'none',
    typeof imports === 'object' && imports !== null ? JSON.stringify(imports) : null,
    typeof exports === 'string' ? exports : typeof exports === 'object' && exports !== null ? JSON.stringify(exports) : null,
    path,
  ];
  known ??= new Map();
  known.set(path, serialized);
  return serialized;
}

function invalid(path, importer, specifier) {
  const { fileURLToPath } = context.requireBuiltin('internal/url');
  const from = importer?.startsWith('file:') ? fileURLToPath(importer) : importer;
  const where = importer === undefined ? '' : ` while importing "${specifier}" from ${from}`;
  const error = new Error(`Invalid package config ${path}${where}.`);
  error.code = 'ERR_INVALID_PACKAGE_CONFIG';
  return error;
}

// Returns the nearest package above a file, but not above the file's `node_modules`.
function nearestPackage(path) {
  for (let at = path.lastIndexOf('/'); at >= 0; at = path.lastIndexOf('/', at - 1)) {
    const folder = path.slice(0, at);
    if (folder.endsWith('/node_modules')) return undefined;
    const found = readPackage(`${folder}/${MANIFEST}`);
    if (found !== undefined || at === 0) return found;
  }
  return undefined;
}

// Returns the package to which a URL belongs, or the path at which the search ended.
function packageScope(url) {
  const { fileURLToPath } = context.requireBuiltin('internal/url');
  let at = new URL(`./${MANIFEST}`, url);
  for (;;) {
    if (at.pathname.endsWith(`node_modules/${MANIFEST}`)) break;
    const found = readPackage(fileURLToPath(at));
    if (found !== undefined) return found;
    const above = new URL(`../${MANIFEST}`, at);
    if (above.pathname === at.pathname) break;
    at = above;
  }
  return fileURLToPath(at);
}

module.exports = { forget, readPackage, nearestPackage, packageScope };
