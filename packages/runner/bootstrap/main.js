// What: the first JavaScript of the guest. The shim compiles this file as a function body with the parameters `(native, buildFile)` and
// calls it once, while the image is being built. Nothing here ever runs again: a process starts from the frozen memory.
// Why so small: it only makes `require` for the other files of this folder. They stay separate files, each with one topic, and none of
// them needs a bundler: the build hands them over one by one.
// Next: boot.js, which is the order of the boot.
'use strict';

const loaded = new Map();

// Frames of files named `coldframe:…` are left out of stacks, as the frames of Node's C++ are (engine/patches).
function requireFile(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const source = buildFile(`bootstrap/${name}`);
  if (source === undefined) throw new Error(`bootstrap file ${name} is not among the build inputs`);
  const module = { exports: {} };
  loaded.set(name, module);
  const folder = name.slice(0, name.lastIndexOf('/') + 1);
  const require = (request) => requireFile(join(folder, request));
  const body = native.compileFunction(source, `coldframe:${name}`, ['exports', 'require', 'module', 'native', 'buildFile']);
  body(module.exports, require, module, native, buildFile);
  return module.exports;
}

// './x.js' and '../x.js' only: these files import nothing else.
function join(folder, request) {
  const parts = folder === '' ? [] : folder.slice(0, -1).split('/');
  for (const part of request.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

// Builtins and these files keep no source text: 2.6 MB less in the image, and `toString()` says `[native code]`, as for C++ functions.
native.setStrip(true);
requireFile('start-up/boot.js')();
native.setStrip(false);
