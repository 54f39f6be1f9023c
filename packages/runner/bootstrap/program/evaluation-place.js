// The environment and the working directory of one evaluation in a resident runner. The shim calls
// `enter` before the evaluation and `leave` after the evaluation. After an interrupted evaluation,
// the shim calls `enter` before the next evaluation. Next: run-file.js.
'use strict';

const shell = require('./shell.js');

const { apply } = Reflect;
const { hasOwn } = Object;
const indexOf = Function.prototype.call.bind(String.prototype.indexOf);
const slice = Function.prototype.call.bind(String.prototype.slice);

let chdir;
let cwd;
let receiver;
// The directory and the variables to restore, or undefined.
let before;

function install(process) {
  ({ chdir, cwd } = process);
  receiver = process;
}

// Sets the place of an evaluation. The first text is a directory, or empty. The other texts are
// variables as NAME=value. Without texts, the evaluation has the runner's place.
function enter(texts) {
  const notebook = shell.notebook();
  if (notebook !== undefined) {
    notebook.enter(texts);
    return;
  }
  leave();
  if (texts.length === 0) return;
  const { env } = receiver;
  before = { cwd: undefined, env, values: [] };
  for (let at = 1; at < texts.length; at++) {
    const split = indexOf(texts[at], '=', 1);
    const name = slice(texts[at], 0, split);
    before.values[at - 1] = { name, value: hasOwn(env, name) ? env[name] : undefined };
    env[name] = slice(texts[at], split + 1);
  }
  if (texts[0] === '') return;
  const home = apply(cwd, receiver, []);
  apply(chdir, receiver, [texts[0]]);
  before.cwd = home;
}

// Restores the environment and the working directory of the runner.
function leave() {
  shell.notebook()?.leave();
  if (before === undefined) return;
  const { cwd: home, env, values } = before;
  before = undefined;
  for (let at = 0; at < values.length; at++) {
    const { name, value } = values[at];
    if (value === undefined) delete env[name];
    else env[name] = value;
  }
  if (home !== undefined) apply(chdir, receiver, [home]);
}

module.exports = { enter, install, leave };
