// Builtins that just-bash lacks, or implements without processes: command, trap, exec, umask,
// ulimit. Next: job-builtins.js, traps.js.

import fs from 'node:fs';
import { posix } from 'node:path';
import { historyBuiltin } from './interactive/history.js';
import { bg, disown, fg, kill, listJobs, wait } from './job-builtins.js';
import { place } from './processes.js';
import { flush } from './sink.js';
import { listTraps, setTrap } from './traps.js';

const ok = (stdout = '') => ({ stdout, stderr: '', exitCode: 0 });
const fail = (stderr, exitCode = 1) => ({ stdout: '', stderr: `bash: ${stderr}\n`, exitCode });

function trap(_interpreter, args) {
  const [first, ...names] = args[0] === '--' ? args.slice(1) : args;
  if (first === undefined || first === '-p') return ok(listTraps());
  if (first === '-l') return kill(_interpreter, ['-l']);
  // `trap NAME` with a single word removes the trap of that signal.
  if (names.length === 0) return setTrap('-', first) ? ok() : fail(`trap: ${first}: invalid signal specification`);
  const bad = names.find((name) => !setTrap(first, name));
  return bad === undefined ? ok() : fail(`trap: ${bad}: invalid signal specification`);
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
  const result = { ...ok(), exitCode: 1 };
  for (const name of args.filter((arg) => !/^-[pvV]+$/.test(arg))) {
    if (KEYWORDS.has(name)) {
      result.exitCode = 0;
      result.stdout += flags.includes('V') ? `${name} is a shell keyword\n` : `${name}\n`;
      continue;
    }
    const kind = interpreter.kindOf(name);
    const path = interpreter.find(name);
    const missing = kind === 'missing' || (name.includes('/') && !isExecutable(posix.resolve(state.cwd, name)));
    if (missing) continue;
    result.exitCode = 0;
    if (flags.includes('V'))
      result.stdout +=
        kind === 'function' || kind === 'builtin'
          ? `${name} is a ${kind === 'builtin' ? 'shell builtin' : 'function'}\n`
          : `${name} is ${path}\n`;
    else result.stdout += `${kind === 'function' || kind === 'builtin' || SHELL_WORDS.has(name) ? name : path}\n`;
  }
  return result;
}

export const KEYWORDS = new Set('if then elif else fi for while until do done case esac function time in { } ! [['.split(' '));
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
  ['fg', fg],
  ['bg', bg],
  ['disown', disown],
  ['history', historyBuiltin],
  ['trap', trap],
  ['kill', kill],
  ['exec', exec],
  ['umask', umask],
  ['ulimit', () => ok('unlimited\n')],
]);
