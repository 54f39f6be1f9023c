// What: the shell in the image that has one: its bundle (packages/runner/shell) is loaded while that image is made, and every process of the image
// is one of its commands; the kernel says which, in place of `node`'s options.
// Why in an image of its own: `node` programs then map and start what they need, and nothing more.
// Next: run-file.js, which hands over to it.
'use strict';

const context = require('../context.js');
const { messageOf } = require('../errors/errno.js');
const { pair } = require('../net/calls.js');
const operations = require('../event-loop/operations.js');
const { NUMBERS, spawn, sys } = require('../processes/calls.js');

const LSEEK = 0x119;
const SET = 0;
const CURRENT = 1;

// What the bundle needs besides Node's modules.
const kernel = {
  pair,
  spawn,
  describe: messageOf,
  rewind: (fd) => sys(LSEEK, fd, 0, SET),
  position: (fd) => sys(LSEEK, fd, 0, CURRENT),
  /** Has `callback` called with the child's wait status. */
  wait: (pid, callback) => operations.expect(sys(NUMBERS.wait, pid), callback),
};

let body;
let shell;

// Before everything else: what compiling the largest file leaves free is then used by the rest, and is no hole in the image.
function compile() {
  const source = buildFile('shell.js');
  if (source === undefined) return;
  body = native.compileFunction(source, 'coldframe:shell.js', ['exports', 'require', 'module', 'process', 'Buffer']);
}

// Node's own modules are all loaded; `settle` runs what is due.
function install(settle) {
  if (body === undefined) return;
  const module = { exports: {} };
  const load = (id) => (id === 'coldframe:kernel' ? kernel : context.requireBuiltin(id.replace(/^node:/, '')));
  body(module.exports, load, module, context.process, context.requireBuiltin('buffer').Buffer);
  shell = module.exports;
  let failure = 'it waits for something';
  shell.warm().then(
    () => {
      failure = undefined;
    },
    (error) => {
      failure = error.stack ?? error;
    },
  );
  settle();
  if (failure !== undefined) throw new Error(`the shell cannot be prepared: ${failure}`);
}

/** Runs the command that this process is. False: this image has no shell. */
function run() {
  if (shell === undefined) return false;
  const [name] = native.execArgv();
  context.process.execArgv = [];
  shell.main(name, native.argv());
  return true;
}

module.exports = { compile, install, run };
