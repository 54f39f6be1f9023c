// The shell and the usual commands as one program. The file that was started selects the command
// (crates/kernel/src/processes/resolve.rs). The language and most commands are just-bash's;
// processes, descriptors and files are the runtime's. Next: command-line.js, interpreter.js.

import fs from 'node:fs';
import v8 from 'node:v8';
import { Bash, createCommandContext, parse } from 'just-bash';
import { STATE } from './background.js';
import { readCommandLine } from './command-line.js';
import { names, own } from './commands.js';
import { close, readAll, write } from './descriptors.js';
import { filesystem } from './filesystem.js';
import { filter, isFilter } from './filters.js';
import { beginAnew } from './interpreter.js';
import { executionLimits } from './limits.js';
import { abandon, enter, evaluate, leave } from './notebook.js';
import { applet, place } from './processes.js';
import { programs } from './programs.js';
import { reasonOf } from './reasons.js';
import { bytesOf, sink } from './sink.js';

const UNUSABLE = 2;
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';
const SHELLS = new Set(['sh', 'bash']);

function makeBash(env, cwd) {
  const bash = new Bash({
    fs: filesystem,
    cwd,
    env,
    commands: names,
    customCommands: own,
    defenseInDepth: false,
    executionLimits,
    processInfo: { pid: process.pid, ppid: process.ppid, uid: process.getuid?.() ?? 1000, gid: process.getgid?.() ?? 1000 },
  });
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
    exitCode = SHELLS.has(name) ? await shell(argv) : await command(name, argv.slice(1));
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
  if (isFilter(name, args)) return filter(name, await loaded(name), args);
  const quoted = [name, ...args].map((arg) => `'${arg.replaceAll("'", "'\\''")}'`);
  return run(makeBash(process.env, process.cwd()), quoted.join(' '));
}

// Returns a command of just-bash.
async function loaded(name) {
  const { commands } = makeBash(process.env, process.cwd());
  const known = commands.get(name);
  return known.internalOriginalCommand ?? known;
}

async function shell(argv) {
  const line = readCommandLine(argv);
  if (line.version) {
    write(1, Buffer.from('GNU bash, version 5.1.0(1)-release (just-bash 3.4.2)\n'));
    return 0;
  }
  if (line.bad) {
    write(2, Buffer.from(`${argv[0]}: ${line.bad}\n`));
    return UNUSABLE;
  }
  const bash = makeBash(process.env, workingDirectory());
  const { state } = bash;
  Object.assign(state.options, line.options);
  state.env.set('0', line.name);
  for (const [index, arg] of line.args.entries()) state.env.set(String(index + 1), arg);
  state.env.set('#', String(line.args.length));
  state.env.set('@', line.args.join(' '));
  state.env.set('*', line.args.join(' '));
  inherit(state);
  place.isGiven = line.script !== undefined && isOneCommand(line.script);
  const text = line.script ?? read(line);
  if (typeof text === 'number') return text;
  return run(bash, text);
}

// Returns whether the text is a single command, so that the command may replace the shell, as in
// bash.
function isOneCommand(text) {
  try {
    const { statements } = parse(text);
    const [{ background, pipelines }] = statements;
    const [{ negated, timed, commands }] = pipelines;
    const isOne = statements.length === 1 && pipelines.length === 1 && commands.length === 1;
    return isOne && !background && !negated && !timed && commands[0].type === 'SimpleCommand';
  } catch {
    return false;
  }
}

function read({ file, fromInput }) {
  if (fromInput) return readAll(0).toString('utf8');
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

// Restores the shell state that the parent shell passed to this process (background.js).
function inherit(state) {
  const fd = process.env[STATE];
  if (fd === undefined) return;
  const { env, shellPid, ...rest } = v8.deserialize(readAll(Number(fd)));
  close(Number(fd));
  const { options } = state;
  Object.assign(state, rest, { env: new Map([...state.env, ...env]), virtualPid: shellPid });
  Object.assign(state.options, options, rest.options);
  state.env.delete(STATE);
  state.exportedVars.delete(STATE);
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
