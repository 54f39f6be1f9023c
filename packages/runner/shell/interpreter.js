// What: where just-bash's interpreter asks the box: commands that are other programs become children with real descriptors, output is written when
// it is made, what nobody redirected is read from descriptor 0, pipelines with children in them run at once, `&` starts a process.
// Why its class is changed and not another derived from it: the interpreter makes itself (for `xargs`, `find -exec`, `eval`, ...).
// Next: pipelines.js, background.js, builtins.js.

import kernel from 'coldframe:kernel';
import fs from 'node:fs';
import { Interpreter, shellBuiltins } from 'just-bash';
import { background } from './background.js';
import { ownBuiltins } from './builtins.js';
import { aside, close, holding, pipe, readAll, readLine, takeAside } from './descriptors.js';
import { runPipeline } from './pipelines.js';
import { ended, exitCodeOf, find, place, start, takePlace } from './processes.js';
import { keptDescriptor, redirect, taken } from './redirections.js';
import { flush, keeping, sink } from './sink.js';
import { runTraps, takeExitTrap, trapsDue } from './traps.js';

const ALL = { out: true, err: true };
const { prototype } = Interpreter;
const { executePipeline, executeScript, executeStatement, executeCommandInner, runCommand } = prototype;

/** What a command without a slash is: a function, a builtin, a command of just-bash, or another program. */
prototype.kindOf = function kindOf(name) {
  const { state, commands } = this.ctx;
  if (state.functions.has(name)) return 'function';
  if (shellBuiltins.has(name) || ownBuiltins.has(name)) return 'builtin';
  const path = this.find(name);
  if (path === undefined) return 'missing';
  const own = path === `/bin/${name}` || path === `/usr/bin/${name}`;
  return own && commands.has(name) ? 'own' : 'program';
};

// How messages of the shell begin.
prototype.where = function () {
  const { env, currentLine } = this.ctx.state;
  return `${env.get('0') ?? 'bash'}: line ${currentLine}: `;
};

prototype.find = function (name) {
  return find(name, this.ctx.state.env.get('PATH'), this.ctx.state.cwd);
};

/** just-bash's question for one of its own commands. */
prototype.findOwn = function (name) {
  const cmd = this.ctx.commands.get(name);
  return cmd && { cmd, path: `/bin/${name}` };
};

/** The input of a command that reads: what it was given, else all of descriptor 0. */
prototype.inputOf = function (given) {
  if (!this.openInput) return given;
  this.openInput = false;
  return readAll(0).toString('latin1');
};

/** Runs `work`; what it prints is its value. */
prototype.captured = async function (work) {
  const { plan } = this;
  this.plan = undefined;
  try {
    return await keeping(ALL, work);
  } finally {
    this.plan = plan;
  }
};

let isFirst = true;

/** The next script is again the one with whose end this process ends. */
export function beginAnew() {
  isFirst = true;
}

// The outermost script: when it is over, what was wanted at signals and at the end is done, in the same state.
prototype.executeScript = async function (node) {
  if (!isFirst) return executeScript.call(this, node);
  isFirst = false;
  const done = flush(await outcome(executeScript.call(this, node)));
  const { state } = this.ctx;
  const { exitCode } = done;
  for (const text of [...trapsDue(), takeExitTrap()].filter(Boolean)) {
    state.lastExitCode = exitCode;
    state.env.set('?', String(exitCode));
    const last = flush(
      await outcome(this.runCommand('eval', [text], [], '', true).then(({ stdout, stderr }) => ({ stdout, stderr, exitCode }))),
    );
    done.exitCode = last.exitCode;
  }
  return done;
};

// `exit` and its like are errors with a result.
async function outcome(running) {
  try {
    return await running;
  } catch (error) {
    if (typeof error?.exitCode !== 'number') throw error;
    const { stdout = '', stderr = '', exitCode } = error;
    return { stdout, stderr, exitCode };
  }
}

prototype.executeStatement = async function (node) {
  await runTraps(this);
  return node.background ? background(this, node) : executeStatement.call(this, node);
};

prototype.executePipeline = async function (node) {
  const run = node.commands.length > 1 ? runPipeline(this, node, executePipeline) : executePipeline.call(this, node);
  return flush(await run);
};

prototype.executeCommandInner = async function (node, stdin, owned) {
  const inner = () => executeCommandInner.call(this, node, stdin, owned);
  return node.type === 'SimpleCommand' || !node.redirections?.length ? inner() : keeping(taken(node.redirections), inner);
};

/** A simple command whose words are expanded. `owned`: whether `stdin` is its own, though it be empty. */
prototype.runSimple = async function (node, prepared, name, args, quoted, stdin, sourceFd, owned) {
  const { plan } = this;
  this.plan = undefined;
  const kind = this.kindOf(name);
  if (kind === 'program' || (plan !== undefined && kind === 'own'))
    return this.runProgram({ node, prepared, name, args, stdin, owned, plan });
  const run = () => this.runCommand(name, args, quoted, stdin, false, false, sourceFd, owned);
  return node.redirections.length > 0 ? keeping(taken(node.redirections), run) : run();
};

prototype.runCommand = async function (name, args, quoted, stdin, noFunctions, defaultPath, sourceFd, owned) {
  const { state } = this.ctx;
  const before = this.openInput;
  this.openInput = !owned && stdin === '' && state.groupStdin === undefined;
  try {
    const isFunction = !noFunctions && state.functions.has(name);
    if (!isFunction && ownBuiltins.has(name)) {
      const result = await ownBuiltins.get(name)(this, args, { quoted, stdin, owned });
      if (result !== undefined) return result;
    }
    if (!isFunction && !shellBuiltins.has(name) && this.kindOf(name) !== 'own')
      return await this.runProgram({ name, args, stdin, owned });
    if (name === 'read' && this.openInput && !args.includes('-u')) stdin = readLine(0).toString('latin1');
    return await runCommand.call(this, name, args, quoted, stdin, noFunctions, defaultPath, sourceFd, owned);
  } finally {
    this.openInput = before;
  }
};

/** Starts a program and, unless it belongs to a plan (a pipeline, `&`), waits for it. */
prototype.runProgram = async function ({ node, prepared, name, args, stdin, owned, plan }) {
  const { state } = this.ctx;
  const file = this.find(name);
  if (file === undefined)
    return { stdout: '', stderr: `${this.where()}${name}: command not found\n`, exitCode: 127, written: false };
  const opened = [];
  const given = plan?.stdin === undefined ? inputFor(state, stdin, owned) : { fd: plan.stdin, release: () => {} };
  // Output that is a value comes through a pipe; errors that are, through a file, since nobody reads both at once.
  const [from, to] = plan === undefined && !sink.out ? pipe() : [-1, 1];
  const errors = plan === undefined && !sink.err ? aside() : 2;
  const inPlace = plan === undefined && place.isGiven && sink.out && sink.err ? takePlace() : undefined;
  if (plan === undefined) place.isGiven = false;
  let pid;
  try {
    const open = (path, flags) => opened[opened.push(fs.openSync(path, flags)) - 1];
    const kept = (fd) => keptDescriptor(state.fileDescriptors?.get(fd), open);
    const plain = [given.fd, plan?.stdout ?? kept(1) ?? to, plan?.stderr ?? kept(2) ?? errors];
    const fds =
      node?.redirections.length > 0
        ? redirect(
            plain,
            node.redirections,
            prepared,
            { cwd: state.cwd, noclobber: state.options.noclobber, kept: state.fileDescriptors },
            opened,
          )
        : plain;
    pid = start({ file, args: [name, ...args], env: this.buildExportedEnv(), cwd: state.cwd, fds, detached: false });
  } catch (error) {
    pid = { exitCode: 1, message: messageOf(error) };
  }
  opened.forEach(close);
  if (to !== 1) close(to);
  const result = { stdout: '', stderr: '', exitCode: 0, written: node !== undefined && pid >= 0 };
  if (typeof pid === 'object') {
    inPlace?.leave();
    given.release();
    if (to !== 1) close(from);
    if (errors !== 2) close(errors);
    return { ...result, written: false, stderr: `${this.where()}${name}: ${pid.message}\n`, exitCode: pid.exitCode };
  }
  if (plan !== undefined) {
    plan.pid = pid;
    plan.release = given.release;
    return result;
  }
  if (to !== 1) {
    result.stdout = readAll(from).toString('latin1');
    result.stdoutKind = 'bytes';
    close(from);
  }
  result.exitCode = exitCodeOf(await (inPlace ?? { ended }).ended(pid));
  given.release();
  if (errors !== 2) result.stderr = takeAside(errors).toString('utf8');
  return result;
};

// What a program reads: this process's own input, unless something here was to be read. `release` comes when the program has ended: of what a group
// was given, the program may have read a part, as its position tells.
function inputFor(state, stdin, owned) {
  const isGroups = !owned && stdin === '';
  const text = isGroups ? state.groupStdin : stdin;
  if (text === undefined) return { fd: 0, release: () => {} };
  const fd = holding(Buffer.from(text, 'latin1'));
  const release = () => {
    if (isGroups && state.groupStdin === text) state.groupStdin = text.slice(kernel.position(fd));
    close(fd);
  };
  return { fd, release };
}

const messageOf = (error) =>
  ({
    ENOENT: 'No such file or directory',
    EACCES: 'Permission denied',
    EISDIR: 'Is a directory',
    EEXIST: 'cannot overwrite existing file',
    EROFS: 'Read-only file system',
    ENOSPC: 'No space left on device',
  })[error.code] ?? error.message;
