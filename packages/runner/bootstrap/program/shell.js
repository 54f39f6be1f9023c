// Loads and runs the shell, in the image that contains the shell. The bundle
// (packages/runner/shell) is loaded while that image is made. Every process of the image is one of
// the shell's commands; the kernel passes the command in place of `node`'s options. The shell has
// an image of its own, so that `node` programs map and start only what they need. Next:
// run-file.js, which calls this file.
'use strict';

const context = require('../context.js');
const { EACCES, reasonOf } = require('../errors/denials.js');
const { messageOf } = require('../errors/errno.js');
const { NUMBERS: FILES } = require('../fs/calls.js');
const { pair } = require('../net/calls.js');
const operations = require('../event-loop/operations.js');
const { NUMBERS, spawn, sys } = require('../processes/calls.js');
const { body } = require('./shell-bundle.js');

const SET = 0;
const CURRENT = 1;

// The functions that the bundle needs besides Node's modules.
const kernel = {
  pair,
  spawn,
  describe: messageOf,
  /** Returns 0 if this program may start the program in `file`, else a negative error number. */
  mayRun: (file) => sys(NUMBERS.mayRun, file),
  /** Returns the sentence about the permission that denied the last call, or undefined. */
  denial: () => reasonOf(EACCES),
  rewind: (fd) => sys(FILES.lseek, fd, 0, SET),
  position: (fd) => sys(FILES.lseek, fd, 0, CURRENT),
  /** Calls `callback` with the child's wait status. */
  wait: (pid, callback) => operations.expect(sys(NUMBERS.wait, pid), callback),
};

let shell;

// Installs the shell after Node's own modules are loaded. `settle` runs the due work of the loop.
// Throws if the shell is not ready afterwards.
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

/** Runs the command of this process. Returns false if this image has no shell. */
function run() {
  if (shell === undefined) return false;
  const [name] = native.execArgv();
  context.process.execArgv = [];
  shell.main(name, native.argv());
  return true;
}

const RESIDENT = 2;

/** Returns whether this process is a shell that stays alive and evaluates cells. */
const isResident = () => shell !== undefined && native.mode() === RESIDENT;

/** Returns the functions of a shell that stays alive, or undefined in any other process. */
const notebook = () => (isResident() ? shell.notebook : undefined);

module.exports = { install, notebook, run };
