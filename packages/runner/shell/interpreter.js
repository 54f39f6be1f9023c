// Connects just-bash's interpreter to the runtime. Commands that are other programs become children
// with real descriptors. Output is written when it is made. Input without a redirection is read
// from descriptor 0. Pipelines with children run concurrently, and `&` starts a process. The
// interpreter's class is changed and not extended, because the interpreter makes instances of
// itself (for `xargs`, `find -exec`, `eval`, ...). Next: pipelines.js, background.js, builtins.js.

import fs from 'node:fs';
import { Interpreter, shellBuiltins } from 'just-bash';
import { background } from './background.js';
import { ownBuiltins, SHELL_WORDS } from './builtins.js';
import { close, openUnnamedFile, pipe, readAll, readUnnamedFile } from './descriptors.js';
import { forgetFailures, withReasons } from './failures.js';
import { isStale, never, received } from './generations.js';
import { follows, hasOwnInput, inputFor, inputMayWait, readsAsItComes } from './input.js';
import { checkpoint } from './interrupts.js';
import { awaitForeground, foregroundGroup, noGroup, usesJobControl } from './jobs.js';
import { cannotRun, isLauncher, launched, withoutCommand } from './launchers.js';
import { pipelineOf, textOf } from './nodes.js';
import { runPipeline } from './pipelines.js';
import { applet, ended, exitCodeOf, find, inBackground, place, refused, shellProcess, start, takePlace } from './processes.js';
import { assignsInput, decodeAssigned, read, readsInput } from './read-builtin.js';
import { reasonOf } from './reasons.js';
import { keptDescriptor, redirect, taken } from './redirections.js';
import { flush, keeping, sink } from './sink.js';
import { runTraps, takeExitTrap, trapsDue } from './traps.js';

const ALL = { out: true, err: true };
const { prototype } = Interpreter;
const { executePipeline, executeScript, executeStatement, executeCommandInner, executeSubshell, runCommand } = prototype;
const { executeSimpleCommandInner } = prototype;

/**
 * Returns the kind of a command: 'function', 'builtin', 'own' (a command of just-bash), 'program',
 * or 'missing'.
 */
prototype.kindOf = function kindOf(name) {
  const { state, commands } = this.ctx;
  if (state.functions.has(name)) return 'function';
  if (shellBuiltins.has(name) || ownBuiltins.has(name)) return 'builtin';
  const path = this.find(name);
  if (path === undefined) return 'missing';
  const own = path === `/bin/${name}` || path === `/usr/bin/${name}`;
  return own && commands.has(name) ? 'own' : 'program';
};

// Returns the beginning of the shell's messages: `bash: line 3: `.
prototype.where = function () {
  const { env, currentLine } = this.ctx.state;
  return `${env.get('0') ?? 'bash'}: line ${currentLine}: `;
};

prototype.find = function (name) {
  return find(name, this.ctx.state.env.get('PATH'), this.ctx.state.cwd);
};

/** Finds a command of just-bash by name, for calls from just-bash. */
prototype.findOwn = function (name) {
  const cmd = this.ctx.commands.get(name);
  return cmd && { cmd, path: `/bin/${name}` };
};

/** Returns the input of a command that reads: the given input, else all bytes of descriptor 0. */
prototype.inputOf = function (given) {
  if (!this.openInput) return given;
  this.openInput = false;
  return readAll(0).toString('latin1');
};

// A subshell has its own umask, which its programs and files get.
async function withOwnUmask(work) {
  const mask = process.umask();
  try {
    return await work();
  } finally {
    process.umask(mask);
  }
}

prototype.executeSubshell = function (...args) {
  return withOwnUmask(() => executeSubshell.apply(this, args));
};

/** Runs `work` in a subshell and returns its output as a value. */
prototype.captured = async function (work) {
  const { plan } = this;
  this.plan = undefined;
  let exitCode = 1;
  try {
    const result = await withOwnUmask(() => keeping(ALL, work));
    exitCode = result.exitCode;
    return result;
  } catch (error) {
    exitCode = error?.exitCode ?? exitCode;
    throw error;
  } finally {
    this.plan = plan;
    this.substitutionStatus = exitCode;
  }
};

prototype.executeSimpleCommandInner = function (node, ...rest) {
  if (!node.name) this.substitutionStatus = 0;
  return executeSimpleCommandInner.call(this, node, ...rest);
};

/** Returns the status of a command that is only assignments: of its last substitution, or 0. */
prototype.assignmentStatus = function () {
  return this.substitutionStatus;
};

/** Returns the flags of `$-` that depend on the start of the shell. */
prototype.flags = () => shellProcess.flags;

const parsed = (interpreter, node) => executeScript.call(interpreter, node);
let outermost = parsed;

/**
 * Makes the next script the outermost script. This process ends with the exit code of that script.
 * `run` runs other commands than the script that was parsed, such as the commands that arrive at a
 * descriptor.
 */
export function beginAnew(run = parsed) {
  outermost = run;
}

// Runs a script. When the outermost script ends, also runs the due traps with the script's state.
prototype.executeScript = async function (node) {
  if (received(this)) return never();
  if (outermost === undefined) return executeScript.call(this, node);
  const run = outermost;
  outermost = undefined;
  const done = flush(await outcome(run(this, node)));
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

// Returns the result of a script. `exit` and similar builtins throw errors that carry the result.
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
  await checkpoint();
  if (isStale(this)) return never();
  await runTraps(this);
  return node.background ? inBackground(() => background(this, node)) : executeStatement.call(this, node);
};

prototype.executePipeline = async function (node) {
  if (isStale(this)) return never();
  const run = node.commands.length > 1 ? runPipeline(this, node, executePipeline) : executePipeline.call(this, node);
  return flush(await run);
};

prototype.executeCommandInner = async function (node, stdin, owned) {
  const inner = () => executeCommandInner.call(this, node, stdin, owned);
  return node.type === 'SimpleCommand' || !node.redirections?.length ? inner() : keeping(taken(node.redirections), inner);
};

/**
 * Runs a simple command whose words are expanded. `owned` is true if `stdin` was given to this
 * command, even if `stdin` is empty.
 */
prototype.runSimple = async function (node, prepared, name, args, quoted, stdin, sourceFd, owned) {
  const { plan } = this;
  this.plan = undefined;
  const kind = this.kindOf(name);
  if (kind === 'program' || (kind === 'own' && (plan !== undefined || this.mustBeProcess(node, name, args, stdin, owned))))
    return this.runProgram({ node, prepared, name, args, stdin, owned, plan });
  const run = () => this.runCommand(name, args, quoted, stdin, false, false, sourceFd, owned);
  return node.redirections.length > 0 ? keeping(taken(node.redirections), run) : run();
};

/** Returns whether a command without input of its own reads descriptor 0. */
prototype.readsDescriptor = function () {
  return applet.name === undefined && this.ctx.state.groupStdin === undefined;
};

// Returns whether a command of just-bash must be a process: its input may have no end, or the user
// may stop or interrupt the command. A command that was started as a process runs
// in this process.
prototype.mustBeProcess = function (node, name, args, stdin, owned) {
  if (applet.name !== undefined) return false;
  if (follows(name, args)) return true;
  if (usesJobControl() && !SHELL_WORDS.has(name)) return true;
  const readsShell = !owned && stdin === '' && this.readsDescriptor() && !hasOwnInput(node);
  return readsShell && readsAsItComes(name, args) && inputMayWait();
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
    if (!isFunction && !shellBuiltins.has(name)) {
      if (this.kindOf(name) !== 'own') return await this.runProgram({ name, args, stdin, owned });
      const refusal = SHELL_WORDS.has(name) ? undefined : refused(name, this.find(name), state.cwd);
      if (refusal !== undefined)
        return { stdout: '', stderr: `${this.where()}${name}: ${refusal.message}\n`, exitCode: refusal.exitCode };
    }
    forgetFailures();
    const run = async (words, text) => {
      const result = await runCommand.call(this, name, words, quoted, text, noFunctions, defaultPath, sourceFd, owned);
      return isFunction || !result.stderr ? result : { ...result, stderr: withReasons(result.stderr, name, state.cwd) };
    };
    if (isFunction || !assignsInput(name)) return await run(args, stdin);
    const result = name === 'read' && this.openInput && readsInput(args) ? await read(state, args, run) : await run(args, stdin);
    decodeAssigned(state, name, args);
    return result;
  } finally {
    this.openInput = before;
  }
};

/** Starts a program. Waits for the program, unless `plan` is given, for a pipeline or `&`. */
prototype.runProgram = async function ({ node, prepared, name, args, stdin, owned, plan }) {
  const { state } = this.ctx;
  let file = this.find(name);
  let [launcher, detached] = [undefined, false];
  while (isLauncher(name) && (file === `/bin/${name}` || file === `/usr/bin/${name}`)) {
    const command = launched(name, args);
    if (command === undefined) return { ...withoutCommand(name), written: false };
    launcher = name;
    detached ||= command.detached;
    ({ name, args } = command);
    file = this.find(name);
  }
  const missing = (reason) =>
    launcher === undefined ? `${this.where()}${name}: ${reason}\n` : cannotRun(launcher, name, reason);
  if (file === undefined) {
    const reason = launcher === undefined ? 'command not found' : 'No such file or directory';
    return { stdout: '', stderr: missing(reason), exitCode: 127, written: false };
  }
  const opened = [];
  const given = plan?.stdin === undefined ? inputFor(state, stdin, owned) : { fd: plan.stdin, release: () => {} };
  // Captured output is read from a pipe. Captured errors are read from a file, because no code
  // reads the two streams at once.
  const [from, to] = plan === undefined && !sink.out ? pipe() : [-1, 1];
  const errors = plan === undefined && !sink.err ? openUnnamedFile() : 2;
  const inPlace = plan === undefined && place.isGiven && sink.out && sink.err ? takePlace() : undefined;
  if (plan === undefined) place.isGiven = false;
  const group = detached ? noGroup : (plan?.group ?? foregroundGroup());
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
    pid = start({ file, args: [name, ...args], env: this.buildExportedEnv(), cwd: state.cwd, fds, detached, ...group.next() });
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
    return { ...result, written: false, stderr: missing(pid.message), exitCode: pid.exitCode };
  }
  group.started(pid);
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
  if (inPlace === undefined && group.id !== undefined) {
    const command = () => (node === undefined ? [name, ...args].join(' ') : textOf([pipelineOf(node)]));
    result.exitCode = (await awaitForeground([pid], command, group.id)).get(pid);
  } else result.exitCode = exitCodeOf(await (inPlace ?? { ended }).ended(pid));
  given.release();
  if (errors !== 2) result.stderr = readUnnamedFile(errors).toString('utf8');
  return result;
};

const messageOf = (error) => (error.code === 'EEXIST' ? 'cannot overwrite existing file' : reasonOf(error));
