// A process that another process started as `node OPTIONS FILE ARGUMENTS`. This file reads the
// command line, and Node's own scripts for each way of running (internal/main) continue. The
// scripts run unchanged, because they define the meaning of `-e`, `-p`, `--check` and standard
// input. The first two functions that the scripts call would prepare the process. The image is
// already prepared, so this file replaces the two functions with empty functions. Next: options.js,
// which reads the options; run-file.js, which runs files.
'use strict';

const { compileBuiltin } = require('../start-up/builtins.js');
const context = require('../context.js');
const { applyCommandLine } = require('./options.js');
const { keepText } = require('../errors/source-lines.js');
const { isTerminal } = require('../processes/terminals.js');

const STDIN = 0;
const HELP =
  'Usage: node [options] [ script.js ] [arguments]\n       node [options] -e code [arguments]\n       node [options] -\n';

// Runs the command line; `runFile` runs a file as the program.
function runCommandLine(runFile) {
  const { process } = context;
  const { values, rest } = applyCommandLine(native.argv());
  if (values['--version']) return print(`${process.version}\n`);
  if (values['--help']) return print(HELP);
  openChannel();
  if (values['--check']) return runMain('check_syntax');
  if (values['--eval'] !== undefined) {
    keepText(values['--input-type'].startsWith('module') ? native.url() : '[eval]', values['--eval']);
    return runMain('eval_string');
  }
  if (rest.length > 0 && rest[0] !== '-') return runFile(rest[0]);
  const isInteractive = values['--interactive'] || (rest.length === 0 && isTerminal(STDIN));
  return runMain(isInteractive ? 'repl' : 'eval_stdin');
}

function print(text) {
  native.write(1, text);
  native.exit(0);
}

function runMain(name) {
  const preparation = context.requireBuiltin('internal/process/pre_execution');
  preparation.prepareMainThreadExecution = () => {};
  preparation.markBootstrapComplete = () => {};
  compileBuiltin(`internal/main/${name}`)(context.process, context.requireBuiltin, context.internalBinding, context.primordials);
}

// Does the work of Node's setupChildProcessIpcChannel and initializeClusterIPC, which the image's
// preparation cannot do.
function openChannel() {
  const { env } = context.process;
  if (!env.NODE_CHANNEL_FD) return;
  const fd = Number.parseInt(env.NODE_CHANNEL_FD, 10);
  delete env.NODE_CHANNEL_FD;
  const mode = env.NODE_CHANNEL_SERIALIZATION_MODE || 'json';
  delete env.NODE_CHANNEL_SERIALIZATION_MODE;
  context.requireBuiltin('child_process')._forkChild(fd, mode);
  if (context.process.argv[1] && env.NODE_UNIQUE_ID) {
    context.requireBuiltin('cluster')._setupWorker();
    delete env.NODE_UNIQUE_ID;
  }
}

module.exports = { runCommandLine };
