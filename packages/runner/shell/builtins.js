// Builtins that just-bash lacks, or implements without processes: command, wait, jobs, trap, kill,
// exec, umask, ulimit. Next: background.js, traps.js.

import fs from 'node:fs';
import { posix } from 'node:path';
import { jobs } from './background.js';
import { place, signalName, signalNumber } from './processes.js';
import { flush } from './sink.js';
import { listTraps, nextTrapped, setTrap, trapsOwn } from './traps.js';

const ok = (stdout = '') => ({ stdout, stderr: '', exitCode: 0 });
const fail = (stderr, exitCode = 1) => ({ stdout: '', stderr: `bash: ${stderr}\n`, exitCode });
const SIGNALED = 128;
const NO_CHILD = 127;

async function wait(_interpreter, args) {
  const names = args.filter((arg) => arg !== '-n' && arg !== '-f');
  const wanted =
    names.length === 0 ? [...jobs.values()] : names.map((name) => jobs.get(Number(name.replace(/^%/, ''))) ?? jobOf(name));
  if (wanted.includes(undefined))
    return fail(`wait: pid ${names[wanted.indexOf(undefined)]} is not a child of this shell`, NO_CHILD);
  const trapped = nextTrapped();
  let exitCode = 0;
  try {
    const all = args.includes('-n') ? [Promise.race(wanted.map((job) => job.ended))] : wanted.map((job) => job.ended);
    for (const end of all) {
      const signal = trapped.signal.then((number) => ({ number }));
      const got = await Promise.race([end, signal]);
      if (typeof got === 'object') return { ...ok(), exitCode: SIGNALED + got.number };
      exitCode = got;
    }
  } finally {
    trapped.stop();
  }
  if (names.length === 0 && !args.includes('-n')) {
    jobs.clear();
    exitCode = 0;
  }
  return { ...ok(), exitCode };
}

const jobOf = (name) => (/^%\d+$/.test(name) ? [...jobs.values()][Number(name.slice(1)) - 1] : undefined);

function listJobs() {
  const line = ({ command, status }, index) => {
    const [state, suffix] = status === undefined ? ['Running', ' &'] : ['Done', ''];
    return `[${index + 1}]   ${state}                 ${command}${suffix}\n`;
  };
  const text = [...jobs.values()].map(line).join('');
  for (const job of [...jobs.values()]) if (job.status !== undefined) jobs.delete(job.pid);
  return ok(text);
}

function trap(_interpreter, args) {
  const [first, ...names] = args[0] === '--' ? args.slice(1) : args;
  if (first === undefined || first === '-p') return ok(listTraps());
  if (first === '-l') return kill(_interpreter, ['-l']);
  // `trap NAME` with a single word removes the trap of that signal.
  if (names.length === 0) return setTrap('-', first) ? ok() : fail(`trap: ${first}: invalid signal specification`);
  const bad = names.find((name) => !setTrap(first, name));
  return bad === undefined ? ok() : fail(`trap: ${bad}: invalid signal specification`);
}

function kill(_interpreter, args) {
  if (args[0] === '-l') {
    if (args[1] !== undefined) return ok(`${signalName(Number(args[1]) & 0x7f)?.slice(3) ?? ''}\n`);
    return ok(
      `${Array.from({ length: 31 }, (_, i) => signalName(i + 1)?.slice(3))
        .filter(Boolean)
        .join(' ')}\n`,
    );
  }
  let signal = 'TERM';
  const targets = [...args];
  if (targets[0] === '-s' || targets[0] === '-n') signal = targets.splice(0, 2)[1];
  else if (/^-./.test(targets[0] ?? '') && targets[0] !== '--') signal = targets.shift().slice(1);
  if (targets[0] === '--') targets.shift();
  const number = signalNumber(signal ?? '');
  if (number === undefined) return fail(`kill: ${signal}: invalid signal specification`);
  if (targets.length === 0)
    return fail('kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]', 2);
  let result = ok();
  for (const target of targets) {
    const pid = target.startsWith('%') ? jobOf(target)?.pid : Number(target);
    if (!Number.isInteger(pid)) {
      result = fail(`kill: ${target}: arguments must be process or job IDs`);
      continue;
    }
    if (pid === process.pid && trapsOwn(number)) continue;
    try {
      process.kill(pid, number);
    } catch (error) {
      result = fail(`kill: (${target}) - ${error.code === 'ESRCH' ? 'No such process' : 'Operation not permitted'}`);
    }
  }
  return result;
}

// Replaces the shell by a command: the shell ends with the command's exit code. Returns undefined
// without a command, so that just-bash runs `exec`.
async function exec(interpreter, args, { quoted, stdin, owned }) {
  let rest = args[0] === '--' ? args.slice(1) : args;
  while (rest[0] === '-c' || rest[0] === '-l' || rest[0] === '-a') rest = rest.slice(rest[0] === '-a' ? 2 : 1);
  if (rest.length === 0) return undefined;
  const [name, ...others] = rest;
  place.isGiven = true;
  const result = await interpreter.runCommand(name, others, quoted.slice(1), stdin, true, false, -1, owned);
  const { exitCode } = flush(result);
  return interpreter.runCommand('exit', [String(exitCode)], [], '', true);
}

function umask(_interpreter, args) {
  const show = (mask) => mask.toString(8).padStart(4, '0');
  if (args.length === 0 || args[0] === '-p') return ok(`${args[0] === '-p' ? 'umask ' : ''}${show(process.umask())}\n`);
  if (args[0] === '-S') {
    const bits = 0o777 & ~process.umask();
    const set = (shift) => ['r', 'w', 'x'].filter((_, i) => bits & ((4 >> i) << shift)).join('');
    return ok(`u=${set(6)},g=${set(3)},o=${set(0)}\n`);
  }
  if (!/^[0-7]+$/.test(args[0])) return fail(`umask: ${args[0]}: octal number out of range`);
  process.umask(Number.parseInt(args[0], 8) & 0o777);
  return ok();
}

// Implements `command -v` and `command -V`. Returns undefined for other arguments, so that
// just-bash runs `command`.
function command(interpreter, args) {
  const flags = args.filter((arg) => /^-[pvV]+$/.test(arg)).join('');
  if (!/[vV]/.test(flags)) return undefined;
  const { state } = interpreter.ctx;
  const result = ok();
  for (const name of args.filter((arg) => !/^-[pvV]+$/.test(arg))) {
    if (KEYWORDS.has(name)) {
      result.stdout += flags.includes('V') ? `${name} is a shell keyword\n` : `${name}\n`;
      continue;
    }
    const kind = interpreter.kindOf(name);
    const path = interpreter.find(name);
    const missing = kind === 'missing' || (name.includes('/') && !isExecutable(posix.resolve(state.cwd, name)));
    if (missing) result.exitCode = 1;
    else if (flags.includes('V'))
      result.stdout +=
        kind === 'function' || kind === 'builtin'
          ? `${name} is a ${kind === 'builtin' ? 'shell builtin' : 'function'}\n`
          : `${name} is ${path}\n`;
    else result.stdout += `${kind === 'function' || kind === 'builtin' || SHELL_WORDS.has(name) ? name : path}\n`;
  }
  return result;
}

const KEYWORDS = new Set('if then elif else fi for while until do done case esac function time in { } ! [['.split(' '));
/**
 * The commands that are a part of the shell in bash too, although files in `/bin` have their names.
 * The rules about programs do not apply to these words, because a shell starts no program for them.
 */
export const SHELL_WORDS = new Set(['echo', 'printf', 'pwd', 'true', 'false', 'test', '[', 'kill']);

function isExecutable(path) {
  try {
    fs.accessSync(path, fs.constants.X_OK);
    return fs.statSync(path).isFile();
  } catch {
    return false;
  }
}

export const ownBuiltins = new Map([
  ['command', command],
  ['wait', wait],
  ['jobs', listJobs],
  ['trap', trap],
  ['kill', kill],
  ['exec', exec],
  ['umask', umask],
  ['ulimit', () => ok('unlimited\n')],
]);
