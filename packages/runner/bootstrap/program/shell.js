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
const { IN, NUMBERS: SOCKETS, pair } = require('../net/calls.js');
const operations = require('../event-loop/operations.js');
const { ACTIONS, NUMBERS, getpgid, setAction, setpgid, spawn, sys, waitChange } = require('../processes/calls.js');
const terminals = require('../processes/terminals.js');
const { body } = require('./shell-bundle.js');

const SET = 0;
const CURRENT = 1;
const OWN_POSITION = -1;

// Calls `read` with an empty buffer, which returns the length, and then with a sufficient buffer.
function measured(read) {
  const length = read(new Uint8Array(0));
  if (length <= 0) return length === 0 ? new Uint8Array(0) : length;
  const buffer = new Uint8Array(length);
  const count = read(buffer);
  return count < 0 ? count : buffer.subarray(0, count);
}

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
  /** Sets a user attribute of a file. Returns 0 or a negative error number. */
  setAttribute: (path, name, value, follow) => sys(FILES.setAttribute, path, name, value, 0, follow ? 1 : 0),
  removeAttribute: (path, name, follow) => sys(FILES.removeAttribute, path, name, follow ? 1 : 0),
  /** Returns the bytes of a user attribute, or a negative error number. */
  attribute: (path, name, follow) => measured((buffer) => sys(FILES.attribute, path, name, buffer, follow ? 1 : 0)),
  /** Returns the names of the user attributes, each with a NUL, or a negative error number. */
  attributeNames: (path, follow) => measured((buffer) => sys(FILES.attributeNames, path, buffer, follow ? 1 : 0)),
  seek: (fd, position) => sys(FILES.lseek, fd, position, SET),
  /** Reads without waiting. Returns the number of bytes, or a negative error number. */
  readNow: (fd, bytes) => sys(FILES.read, fd, bytes, OWN_POSITION),
  whenReadable,
  ...terminals,
  /** Calls `callback` with the status of a child that ends, stops or continues. */
  waitChange: (pid, changes, callback) => operations.expect(waitChange(pid, changes), callback),
  setGroup: setpgid,
  getGroup: getpgid,
  ignore: (signal) => setAction(signal, ACTIONS.ignore),
  /** Calls `callback` with the child's wait status. */
  wait: (pid, callback) => operations.expect(sys(NUMBERS.wait, pid), callback),
};

// Calls `callback` once when `fd` has data or has ended. Returns a function that cancels the call.
// Returns undefined if the descriptor cannot be awaited.
function whenReadable(fd, callback) {
  const operation = sys(SOCKETS.arm, fd, IN);
  if (operation < 0) return undefined;
  operations.expect(operation, callback);
  return () => {
    sys(SOCKETS.disarm, fd, operation);
    operations.forget(operation);
  };
}

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
