// The commands of the shell that run in its process: the commands of just-bash by name, and
// commands that just-bash lacks. Next: programs.js, which has the commands that are always
// processes.

import fs from 'node:fs';
import os from 'node:os';
import { posix } from 'node:path';
import { defineCommand, getCommandNames } from 'just-bash';
import { cmp, hexdump, shuf, truncate, xxd } from './commands/bytes.js';
import { chgrp, chown, groups, id, logname, whoami } from './commands/identity.js';
import { ln } from './commands/links.js';
import { arch, df, free, getent, install, uptime } from './commands/machine.js';
import { netstat } from './commands/netstat.js';
import { killall, pgrep, pidof, pkill } from './commands/processes.js';
import { ss } from './commands/ss.js';
import { stty } from './commands/stty.js';
import { clear, reset, tput, tty } from './commands/terminal.js';
import { getfattr, setfattr } from './commands/user-attributes.js';
import { ls } from './ls.js';
import { echo, printf } from './printf.js';
import { passHead, readHead } from './programs.js';
import { reasonOf } from './reasons.js';

// The commands of just-bash that this shell does not use. Coldframe's code implements `timeout`.
const NOT_OURS = new Set(['bash', 'sh', 'env', 'node', 'yq', 'xan', 'sqlite3', 'help', 'history', 'timeout', 'html-to-markdown']);

/** The names of the commands of just-bash that this shell uses. */
export const names = getCommandNames().filter((name) => !NOT_OURS.has(name));

const ok = (stdout = '') => ({ stdout, stderr: '', exitCode: 0 });
const fail = (stderr, exitCode = 1) => ({ stdout: '', stderr: `${stderr}\n`, exitCode });

const UNAME = {
  s: () => 'Linux',
  n: () => os.hostname(),
  r: () => os.release(),
  v: () => os.version(),
  m: () => os.machine(),
  o: () => 'GNU/Linux',
};

function uname(args) {
  const flags = args.join('').replaceAll('-', '') || 's';
  const wanted = flags.includes('a') ? [...'snrvmo'] : [...'snrvmo'].filter((flag) => flags.includes(flag));
  return ok(`${wanted.map((flag) => UNAME[flag]()).join(' ')}\n`);
}

function mktemp(args, { cwd, exportedEnv }) {
  const flags = args.filter((arg) => arg.startsWith('-')).join('');
  const at = args.indexOf('-p');
  const template = args.find((arg, index) => !arg.startsWith('-') && (at < 0 || index - 1 !== at));
  const folder = at >= 0 ? args[at + 1] : template === undefined || flags.includes('t') ? (exportedEnv?.TMPDIR ?? '/tmp') : cwd;
  const pattern = posix.resolve(cwd, folder, template ?? 'tmp.XXXXXXXXXX');
  const [places] = /X{3,}(?=[^X]*$)/.exec(pattern) ?? [];
  if (places === undefined) return fail(`mktemp: too few X's in template '${template}'`);
  const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
  for (let attempt = 0; attempt < 100; attempt++) {
    const random = crypto.getRandomValues(new Uint8Array(places.length));
    const path = pattern.replace(/X{3,}(?=[^X]*$)/, Array.from(random, (byte) => letters[byte % letters.length]).join(''));
    try {
      if (flags.includes('d')) fs.mkdirSync(path, 0o700);
      else if (!flags.includes('u')) fs.closeSync(fs.openSync(path, 'wx', 0o600));
      return ok(`${path}\n`);
    } catch (error) {
      if (error.code !== 'EEXIST') return fail(`mktemp: failed to create file via template '${pattern}': ${reasonOf(error)}`);
    }
  }
  return fail(`mktemp: failed to create file via template '${pattern}': File exists`);
}

function realpath(args, { cwd }) {
  const missing = args.includes('-m') || args.includes('-s');
  let result = ok();
  for (const path of args.filter((arg) => !arg.startsWith('-'))) {
    const whole = posix.resolve(cwd, path);
    try {
      result.stdout += `${missing ? whole : resolved(whole, args.includes('-e'))}\n`;
    } catch {
      result = { ...result, stderr: `${result.stderr}realpath: ${path}: No such file or directory\n`, exitCode: 1 };
    }
  }
  return result;
}

// Resolves a path. The last part must exist only if `all` is set.
function resolved(path, all) {
  if (all || fs.existsSync(path)) return fs.realpathSync(path);
  return posix.join(fs.realpathSync(posix.dirname(path)), posix.basename(path));
}

// Reads only the beginning of a character device, which may have no end. just-bash reads other
// files.
async function head(args, context) {
  const read = readHead(args);
  if (read === undefined || read.files.length === 0) return context.origCommand(args);
  const path = posix.resolve(context.cwd, read.files[0]);
  if (!fs.statSync(path, { throwIfNoEntry: false })?.isCharacterDevice()) return context.origCommand(args);
  const fd = fs.openSync(path, 'r');
  const pieces = [];
  passHead(fd, read, (piece) => pieces.push(piece));
  fs.closeSync(fd);
  return { ...ok(Buffer.concat(pieces).toString('latin1')), stdoutKind: 'bytes' };
}

// Separates an option from its value, because just-bash reads the value from the next word.
function xargs(args, context) {
  const apart = [];
  const rest = [...args];
  while (rest[0]?.startsWith('-')) {
    const [, option, value] = /^(-[nILPds])(.+)$/.exec(rest[0]) ?? [];
    rest.shift();
    if (option === undefined) {
      apart.push(args[args.length - rest.length - 1]);
      if (/^-[nILPds]$/.test(apart.at(-1)) && rest.length > 0) apart.push(rest.shift());
    } else apart.push(option, value);
  }
  return context.origCommand([...apart, ...rest]);
}

// Separates `-tx1` into two words, because just-bash reads the type from the next word.
const od = (args, context) => context.origCommand(args.flatMap((arg) => (/^-t./.test(arg) ? ['-t', arg.slice(2)] : [arg])));

const usage = (name) => ok(`Usage: ${name} [OPTION]... [OPERAND]...\n`);

/** The commands that just-bash lacks, and the commands of just-bash that this file changes. */
export const own = [
  ['head', head],
  ['ls', ls],
  ['od', od],
  ['xargs', xargs],
  ['uname', uname],
  ['mktemp', mktemp],
  ['realpath', realpath],
  ['nproc', () => ok(`${os.availableParallelism()}\n`)],
  ['sync', () => ok()],
  ['printf', (args, context) => printf(args, context.origCommand)],
  ['echo', (args, context) => echo(args, context.origCommand)],
  ...Object.entries({
    arch,
    chgrp,
    chown,
    clear,
    cmp,
    df,
    free,
    getent,
    getfattr,
    groups,
    hexdump,
    id,
    install,
    killall,
    ln,
    logname,
    netstat,
  }),
  ...Object.entries({ pgrep, pidof, pkill, reset, setfattr, shuf, ss, stty, tput, truncate, tty, uptime, whoami, xxd }),
].map(([name, run]) =>
  defineCommand(name, async (args, context) =>
    args[0] === '--help' && context.origCommand === undefined ? usage(name) : run(args, context),
  ),
);
