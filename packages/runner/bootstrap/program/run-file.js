// Runs a file as the program, like `node FILE ARGS`: Node's own entry point selects which of Node's
// loaders loads the file. Next: event-loop/hooks.js, which registers this function for the shim.
'use strict';

const bindingCommand = require('../app-bindings/command.js');
const context = require('../context.js');
const { runCommandLine } = require('./command-line.js');
const shell = require('./shell.js');
const { quote } = require('../errors/source-lines.js');

const PENDING = 0;
const HAS_EXIT_CODE = 2;
const MAIN_ASYNC_ID = 1;
const UNSETTLED_EXIT_CODE = 13;

// The shim's `main` hook. Runs the program. An empty path means that another process started this
// process with a command line.
function main(path) {
  if (path === '') {
    if (!shell.run() && !bindingCommand.run()) runCommandLine(runFile);
  } else runFile(path);
}

function runFile(path) {
  const { process, requireBuiltin } = context;
  const { popAsyncContext, pushAsyncContext } = requireBuiltin('internal/async_hooks');
  const main = requireBuiltin('path').resolve(path);
  process.argv[1] = main;
  // A file has no `--input-type`, which is for programs that are passed as text.
  const values = context.cliOptions ?? context.internalBinding('options').getCLIOptionsValues();
  if (values['--input-type'] !== '') {
    context.cliOptions = { ...values, '--input-type': '' };
    requireBuiltin('internal/options').refreshOptions();
  }
  // The program runs as the event with the id 1. After an error the whole stack is unwound
  // (internal/process/execution).
  pushAsyncContext(MAIN_ASYNC_ID, 0, {});
  requireBuiltin('internal/modules/cjs/loader').Module.runMain(main);
  popAsyncContext(MAIN_ASYNC_ID);
}

// Runs before `exit` is emitted. An ES module whose await can never settle ends the process with
// the exit code 13, as in Node's SpinEventLoop.
function checkUnsettled() {
  const promise = globalThis[context.privateSymbols.entry_point_promise_private_symbol];
  if (promise === undefined || native.promiseDetails(promise)[0] !== PENDING) return;
  if (native.loop.exitInfo[HAS_EXIT_CODE]) return;
  const { process } = context;
  const quoted = quote(native.awaitLocation()) ?? `${process.argv[1]}\n`;
  native.write(2, `Warning: Detected unsettled top-level await at ${quoted}\n\n\n`);
  process.exitCode = UNSETTLED_EXIT_CODE;
}

module.exports = { main, checkUnsettled };
