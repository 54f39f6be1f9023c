// The first JavaScript of the guest. The shim compiles this file as a function body with the
// parameters `(native, buildFile)` and calls the function once, while the image is built. The code
// of this file never runs again, because a process starts from the frozen memory. This file only
// makes `require` for the other files of the bootstrap. Each file has one topic. No bundler is
// needed, because the build provides the files one by one.
//
// start-up/           the order of the boot, and the state that a start or a restore refreshes
// internal-bindings/  `internalBinding(name)` of Node's library, a file for each binding
// app-bindings/       `callBinding`, and its command: functions of the app
// program/            how a program runs: command line, options, files, texts, the shell
// modules/, vm/       linking, packages, import(); contexts of node:vm
// event-loop/         the shim's hooks, operations of the kernel, async ids
// errors/             uncaught errors, source lines, error numbers, missing features
// engine-gaps/        what Node's library expects of V8 and the engine lacks
// standard-streams/, performance/, fs/, net/, http/, processes/, crypto/, zlib/, messaging/,
// serdes/, locale/, typescript/   the code behind the bindings, by topic
//
// Next: start-up/boot.js.
'use strict';

const loaded = new Map();

// Frames of files named `coldframe:…` are hidden in stacks, like frames of Node's C++ (the patch
// `stack-frames`).
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

// Joins a folder and './x.js' or '../x.js'. The bootstrap's files import no other form.
function join(folder, request) {
  const parts = folder === '' ? [] : folder.slice(0, -1).split('/');
  for (const part of request.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

// The engine keeps no source text of builtins and of the bootstrap's files. The image is therefore
// 2.6 MB smaller, and `toString()` returns `[native code]`, as for C++ functions.
native.setStrip(true);
requireFile('start-up/boot.js')();
native.setStrip(false);
