// su and sudo. The kernel starts these two commands with the effective user 0 if the real user is
// `root` or `user` (crates/kernel/src/processes/credentials.rs). No command asks for a password.
// The permissions of the sandbox apply to every user alike. Next: ../processes.js.

import fs from 'node:fs';
import { posix } from 'node:path';
import { groupOf, userOf } from '../accounts.js';
import { write } from '../descriptors.js';
import { exitCodeOf, find, start, takePlace } from '../processes.js';

const FAILED = 1;
const ROOT = 'root';
const SECURE_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const LOGIN_PATH = '/usr/local/bin:/usr/bin:/bin';
// The variables that `sudo` and a login keep.
const KEPT = /^(?:TERM|COLORTERM|LANG|LANGUAGE|LC_\w+|TZ|DISPLAY)$/;
const ASSIGNMENT = /^[A-Za-z_]\w*=/;

const say = (text) => write(2, Buffer.from(`${text}\n`));

const kept = (env) => Object.fromEntries(Object.entries(env).filter(([name]) => KEPT.test(name)));

const loginVariables = ({ name, home, shell }) => ({ HOME: home, SHELL: shell, USER: name, LOGNAME: name });

// A user by name, or by `#` and a number.
const accountOf = (text) => userOf(/^#\d+$/.test(text) ? Number(text.slice(1)) : text);

// The directory of a login: the user's home, or the root if the home does not exist.
const homeOf = ({ home }) => (fs.statSync(home, { throwIfNoEntry: false })?.isDirectory() ? home : '/');

// Runs a command as another user and resolves with its exit code. Signals are passed on. With
// `isDetached`, resolves at once.
async function runAs(account, { file, args, env, cwd, gid = account.gid, isBackground = false }, name, missing) {
  const inPlace = takePlace();
  const fds = [0, 1, 2];
  const pid = file === undefined ? missing : start({ file, args, env, cwd, fds, uid: account.uid, gid, detached: isBackground });
  if (typeof pid === 'object') {
    inPlace.leave();
    say(`${name}: ${pid.message}`);
    return pid.exitCode;
  }
  if (!isBackground) return exitCodeOf(await inPlace.ended(pid));
  inPlace.leave();
  return 0;
}

const SUDO_FLAGS = 'AbEeHhiKklnPSsVv';
const SUDO_VALUES = {
  u: 'user',
  g: 'group',
  p: 'prompt',
  C: 'closeFrom',
  T: 'timeout',
  h: 'host',
  D: 'chdir',
  r: 'role',
  t: 'type',
  U: 'other',
};
const SUDO_LONG = {
  __proto__: null,
  user: 'u',
  group: 'g',
  prompt: 'p',
  chdir: 'D',
  'preserve-env': 'E',
  'set-home': 'H',
  login: 'i',
  shell: 's',
  'non-interactive': 'n',
  background: 'b',
  stdin: 'S',
  validate: 'v',
  'reset-timestamp': 'k',
  'remove-timestamp': 'K',
  list: 'l',
  help: 'h',
  version: 'V',
};

// Parses the options of `sudo`: { flags, values, keeps, words }, or { bad }.
function readSudo(args) {
  const rest = [...args];
  const read = { flags: new Set(), values: {}, keeps: undefined, words: [] };
  while (/^-./.test(rest[0] ?? '')) {
    const word = rest.shift();
    if (word === '--') break;
    if (word.startsWith('--')) {
      const [name, value] = [word.slice(2).split('=')[0], word.includes('=') ? word.slice(word.indexOf('=') + 1) : undefined];
      const letter = SUDO_LONG[name];
      if (letter === undefined) return { bad: `unrecognized option '${word}'` };
      if (letter === 'E' && value !== undefined) read.keeps = value.split(',');
      else if (SUDO_VALUES[letter] !== undefined && letter !== 'h') read.values[letter] = value ?? rest.shift() ?? '';
      else read.flags.add(letter);
      continue;
    }
    for (let at = 1; at < word.length; at++) {
      const letter = word[at];
      if (SUDO_VALUES[letter] !== undefined && letter !== 'h') {
        read.values[letter] = word.slice(at + 1) || (rest.shift() ?? '');
        break;
      }
      if (!SUDO_FLAGS.includes(letter)) return { bad: `invalid option -- '${letter}'` };
      read.flags.add(letter);
    }
  }
  read.words = rest;
  return read;
}

// The environment of a command under `sudo`.
function sudoEnvironment(account, { flags, keeps }, caller, command) {
  const before = process.env;
  const login = loginVariables(account);
  if (flags.has('i')) return { ...kept(before), ...login, PATH: LOGIN_PATH };
  const named = Object.fromEntries(
    (keeps ?? []).filter((name) => before[name] !== undefined).map((name) => [name, before[name]]),
  );
  const base = flags.has('E') ? { ...before } : { ...kept(before), ...named };
  if (flags.has('E') && !flags.has('H')) delete login.HOME;
  return {
    ...base,
    ...login,
    PATH: SECURE_PATH,
    SUDO_USER: caller?.name ?? String(process.getuid()),
    SUDO_UID: String(process.getuid()),
    SUDO_GID: String(process.getgid()),
    SUDO_COMMAND: command,
  };
}

// The shell word for a word of `sudo -s` and `sudo -i`, whose shell must not interpret the word.
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** Runs `sudo [OPTION]... [NAME=VALUE]... COMMAND [ARGUMENT]...`. */
export async function sudo(args) {
  const read = readSudo(args);
  if (read.bad !== undefined) {
    say(
      `sudo: ${read.bad}\nusage: sudo [-bEHinsS] [-D directory] [-g group] [-u user] [VAR=value] [-i | -s] [command [arg ...]]`,
    );
    return FAILED;
  }
  const { flags, values } = read;
  const caller = userOf(process.getuid());
  if (process.geteuid() !== 0) {
    say(`${caller?.name ?? process.getuid()} is not in the sudoers file.`);
    return FAILED;
  }
  const account = accountOf(values.u ?? ROOT);
  if (account === undefined) {
    say(`sudo: unknown user ${values.u}\nsudo: error initializing audit plugin sudoers_audit`);
    return FAILED;
  }
  const group = values.g === undefined ? undefined : groupOf(/^#\d+$/.test(values.g) ? Number(values.g.slice(1)) : values.g);
  if (values.g !== undefined && group === undefined) {
    say(`sudo: unknown group ${values.g}`);
    return FAILED;
  }
  const words = [...read.words];
  const assigned = {};
  while (ASSIGNMENT.test(words[0] ?? '')) {
    const word = words.shift();
    assigned[word.slice(0, word.indexOf('='))] = word.slice(word.indexOf('=') + 1);
  }
  if (flags.has('l')) {
    write(
      1,
      Buffer.from(`User ${caller?.name} may run the following commands on ${'coldframe'}:\n    (ALL : ALL) NOPASSWD: ALL\n`),
    );
    return 0;
  }
  const usesShell = flags.has('i') || flags.has('s');
  if (words.length === 0 && !usesShell) {
    if (['v', 'k', 'K', 'V'].some((flag) => flags.has(flag))) return 0;
    say('usage: sudo [-bEHinsS] [-D directory] [-g group] [-u user] [VAR=value] [-i | -s] [command [arg ...]]');
    return FAILED;
  }
  const shell = flags.has('i') ? account.shell : (process.env.SHELL ?? account.shell);
  const command = usesShell ? shellCommand(shell, words, flags.has('i')) : words;
  const env = { ...sudoEnvironment(account, read, caller, command.join(' ')), ...assigned };
  const cwd = values.D ?? (flags.has('i') ? homeOf(account) : process.cwd());
  const file = usesShell ? shell : find(command[0], env.PATH, cwd);
  const missing = { exitCode: FAILED, message: `${command[0]}: command not found` };
  const options = { file, args: command, env, cwd, gid: group?.gid, isBackground: flags.has('b') };
  return runAs(account, options, 'sudo', missing);
}

// The arguments of a shell that runs `words`, or that reads its standard input.
function shellCommand(shell, words, isLogin) {
  const name = isLogin ? `-${posix.basename(shell)}` : shell;
  return words.length === 0 ? [name] : [name, '-c', words.map(quoted).join(' ')];
}

// Parses the options of `su`: { isLogin, keeps, command, shell, user, words }, or { bad }.
function readSu(args) {
  const read = { isLogin: false, keeps: false, command: undefined, shell: undefined, user: undefined, words: [] };
  const rest = [...args];
  while (rest.length > 0) {
    const word = rest.shift();
    const value = () => (word.includes('=') ? word.slice(word.indexOf('=') + 1) : rest.shift());
    if (word === '-' || word === '-l' || word === '--login') read.isLogin = true;
    else if (/^(?:-[mp]|--preserve-environment)$/.test(word)) read.keeps = true;
    else if (/^(?:-c|--command(?:=.*)?)$/s.test(word)) read.command = value();
    else if (/^(?:-s|--shell(?:=.*)?)$/s.test(word)) read.shell = value();
    else if (/^-[fP]$/.test(word)) continue;
    else if (word === '--') {
      if (read.user === undefined) read.user = rest.shift();
      read.words.push(...rest.splice(0));
    } else if (/^-./.test(word) && read.user === undefined) return { bad: word };
    else if (read.user === undefined) read.user = word;
    else read.words.push(word, ...rest.splice(0));
  }
  return read;
}

/** Runs `su [OPTION]... [-] [USER [ARGUMENT]...]`. */
export async function su(args) {
  const read = readSu(args);
  if (read.bad !== undefined) {
    say(`su: unrecognized option '${read.bad}'\nTry 'su --help' for more information.`);
    return FAILED;
  }
  const account = userOf(read.user ?? ROOT);
  if (account === undefined) {
    say(`su: user ${read.user} does not exist or the user entry does not contain all the required fields`);
    return FAILED;
  }
  if (process.geteuid() !== 0) {
    say('su: Authentication failure');
    return FAILED;
  }
  const shell = read.shell ?? account.shell;
  const login = loginVariables({ ...account, shell });
  // As in util-linux, USER and LOGNAME stay unchanged for root.
  const { USER, LOGNAME, ...ofRoot } = login;
  let env = { ...process.env, ...(account.uid === 0 ? ofRoot : login) };
  if (read.isLogin) env = { ...kept(process.env), ...login, PATH: LOGIN_PATH };
  else if (read.keeps) env = { ...process.env };
  const words = read.command === undefined ? read.words : ['-c', read.command, ...read.words];
  const name = read.isLogin ? `-${posix.basename(shell)}` : posix.basename(shell);
  const cwd = read.isLogin ? homeOf(account) : process.cwd();
  return runAs(account, { file: shell, args: [name, ...words], env, cwd }, `su: failed to execute ${shell}`);
}
