// The shell and the usual commands as one program. The file that was started selects the command
// (crates/kernel/src/processes/resolve.rs). The language and most commands are just-bash's;
// processes, descriptors and files are the runtime's. Next: command-line.js, interpreter.js.

import './collation.js';
import kernel from 'coldframe:kernel';
import fs from 'node:fs';
import { Bash, createCommandContext, parse } from 'just-bash';
import { readCommandLine } from './command-line.js';
import { names, own } from './commands.js';
import { write } from './descriptors.js';
import { filesystem } from './filesystem.js';
import { filter, isFilter } from './filters.js';
import { inherited } from './fork.js';
import { interact } from './interactive/session.js';
import { beginAnew } from './interpreter.js';
import { executionLimits } from './limits.js';
import { abandon, enter, evaluate, leave } from './notebook.js';
import { applet, place, shellProcess } from './processes.js';
import { programs } from './programs.js';
import { reasonOf } from './reasons.js';
import { done, runScript } from './run-script.js';
import { nextLine } from './script-input.js';
import { bytesOf, sink } from './sink.js';
import { runStartUpFiles } from './start-up.js';

const UNUSABLE = 2;
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';
const SHELLS = new Set(['sh', 'bash']);

// All commands by name. The table is part of the image, because filling the table takes half of a
// millisecond.
const { commands } = new Bash({ fs: filesystem, commands: names, customCommands: own, defenseInDepth: false });

function makeBash(env, cwd) {
  const bash = new Bash({
    fs: filesystem,
    cwd,
    env,
    commands: [],
    defenseInDepth: false,
    executionLimits,
    processInfo: { pid: process.pid, ppid: process.ppid, uid: process.getuid?.() ?? 1000, gid: process.getgid?.() ?? 1000 },
  });
  bash.commands = commands;
  // As in bash, the variable is set in the shell but not exported to children.
  if (env.PATH === undefined) {
    bash.state.env.set('PATH', DEFAULT_PATH);
    bash.state.exportedVars.delete('PATH');
  }
  for (const name of ['HOME', 'OLDPWD'])
    if (env[name] === undefined) {
      bash.state.env.delete(name);
      bash.state.exportedVars.delete(name);
    }
  const { execInScope } = bash;
  // A command that runs other commands (`xargs`, `find -exec`, ...) receives the output of these
  // commands.
  bash.execInScope = async (text, options, scope, depth, ...rest) => {
    const run = () => execInScope.call(bash, text, options, scope, depth, ...rest);
    if (depth === 0) return run();
    const before = { ...sink };
    Object.assign(sink, { out: false, err: false });
    try {
      return await run();
    } finally {
      Object.assign(sink, before);
    }
  };
  return bash;
}

/** Runs the command of this process, and ends the process. */
export async function main(name, argv) {
  let exitCode;
  try {
    exitCode = SHELLS.has(name) ? await shell(name, argv) : await command(name, argv.slice(1));
  } catch (error) {
    write(2, Buffer.from(`${name}: ${error?.message ?? error}\n`));
    exitCode = UNUSABLE;
  }
  process.exit(exitCode);
}

async function command(name, args) {
  const exitCode = await programs.get(name)?.(args);
  if (exitCode !== undefined) return exitCode;
  applet.name = name;
  if (isFilter(name, args)) return filter(name, loaded(name), args);
  const quoted = [name, ...args].map((arg) => `'${arg.replaceAll("'", "'\\''")}'`);
  return run(makeBash(process.env, process.cwd()), quoted.join(' '));
}

// Returns a command of just-bash.
function loaded(name) {
  const known = commands.get(name);
  return known.internalOriginalCommand ?? known;
}

async function shell(name, argv) {
  shellProcess.name = name;
  const bash = makeBash(process.env, workingDirectory());
  const { state } = bash;
  const part = inherited(state);
  if (part !== undefined) {
    place.isGiven = isOneCommand([part]);
    return runBy(bash, (interpreter) => interpreter.executeScript({ type: 'Script', statements: [part] }));
  }
  const line = readCommandLine(argv);
  if (line.version) {
    write(1, Buffer.from('GNU bash, version 5.1.0(1)-release (just-bash 3.4.2)\n'));
    return 0;
  }
  if (line.bad) {
    write(2, Buffer.from(`${argv[0]}: ${line.bad}\n`));
    return UNUSABLE;
  }
  Object.assign(state.options, line.options);
  state.env.set('0', line.name);
  for (const [index, arg] of line.args.entries()) state.env.set(String(index + 1), arg);
  state.env.set('#', String(line.args.length));
  state.env.set('@', line.args.join(' '));
  state.env.set('*', line.args.join(' '));
  const { start } = line;
  start.name = name;
  const isSession = line.fromInput && (start.isInteractive || (kernel.isTerminal(0) && kernel.isTerminal(2)));
  start.isInteractive ||= isSession;
  shellProcess.flags = `${start.isInteractive ? 'i' : ''}${line.script !== undefined ? 'c' : line.fromInput ? 's' : ''}`;
  if (isSession) return runBy(bash, (interpreter) => interact(interpreter, start));
  if (line.fromInput)
    return runBy(bash, async (interpreter) => {
      const isEnded = await runStartUpFiles(interpreter, start);
      return isEnded ? done(interpreter.ctx.state) : runScript(interpreter, { line: () => nextLine(0) });
    });
  const text = line.script ?? read(line);
  if (typeof text === 'number') return text;
  const given = line.script === undefined ? undefined : parsed(line.script);
  place.isGiven = isOneCommand(given?.statements);
  const isPlain = !start.isLogin && !start.isInteractive;
  if (isPlain && given === undefined) return run(bash, text);
  const work = async (interpreter, node) => {
    const isEnded = !isPlain && (await runStartUpFiles(interpreter, start));
    return isEnded ? done(interpreter.ctx.state) : interpreter.executeScript(given ?? node);
  };
  if (given !== undefined) return runBy(bash, work);
  beginAnew(work);
  return run(bash, text);
}

// Runs `work` as the script of the shell. just-bash needs a text, and `work` replaces this text.
function runBy(bash, work) {
  beginAnew(work);
  return run(bash, ':');
}

function parsed(text) {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

// Returns whether the statements are a single command, so that the command may replace the shell,
// as in bash.
function isOneCommand(statements) {
  if (statements?.length !== 1) return false;
  const [{ background, pipelines }] = statements;
  const [{ negated, timed, commands }] = pipelines;
  return (
    pipelines.length === 1 && commands.length === 1 && !background && !negated && !timed && commands[0].type === 'SimpleCommand'
  );
}

function read({ file }) {
  try {
    return fs.readFileSync(file, 'utf8').replace(/^#!.*/, '');
  } catch (error) {
    write(2, Buffer.from(`bash: ${file}: ${reasonOf(error)}\n`));
    return error.code === 'ENOENT' ? 127 : 126;
  }
}

// Returns `$PWD` if that path names the present directory, else the present directory.
function workingDirectory() {
  const { PWD } = process.env;
  try {
    const [given, real] = [fs.statSync(PWD), fs.statSync('.')];
    if (PWD.startsWith('/') && given.ino === real.ino && given.dev === real.dev) return PWD;
  } catch {
    // `$PWD` does not name the present directory
  }
  return process.cwd();
}

async function run(bash, text) {
  const result = await bash.exec(text, { rawScript: true });
  if (result.stdout) write(1, bytesOf(result.stdout));
  if (result.stderr) write(2, bytesOf(result.stderr));
  return result.exitCode & 0xff;
}

/** The functions of a shell that stays alive, for the bootstrap (notebook.js). */
const make = () => makeBash(process.env, workingDirectory());
export const notebook = {
  enter: (texts) => enter(make, texts),
  leave,
  evaluate: (text) => evaluate(make, text),
  abandon,
};

/** Loads every command while the image is made, so that a process loads no command. */
export async function warm() {
  Object.assign(sink, { out: false, err: false });
  const bash = makeBash({}, '/');
  const context = createCommandContext({ fs: filesystem });
  for (const [, known] of bash.commands) await (known.internalOriginalCommand ?? known).execute(['--help'], context);
  applet.everything = true;
  await bash.exec(
    'x=1; echo "$x" | cat; for i in 1 2; do [ $i = 1 ] && y=$((i+1)); done; ' +
      'f() { local z=$1; echo $(echo ${z:-a}); }; f b; case a in a) ;; esac',
    { rawScript: true },
  );
  applet.everything = false;
  beginAnew();
  Object.assign(sink, { out: true, err: true });
}
