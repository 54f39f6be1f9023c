// Commands that start another command: nohup, setsid, nice and timeout. `nohup` and `setsid` start
// the command in a session of its own, so the command continues after the end of the program that
// the app started. The shell starts the command of `nohup` and `setsid` itself. A process between
// the shell and the command would end with the shell, before the start of the command. Next:
// processes.js.

import { write } from './descriptors.js';
import { ended, exitCodeOf, find, signalName, signalNumber, start, takePlace } from './processes.js';

const FAILED = 125;
const TIMED_OUT = 124;
const KILLED = 137;
const SIGKILL = 9;
const LONGEST_TIMER = 2 ** 31 - 1;

/** Returns the words of the command that `nohup`, `setsid` or `nice` starts, or the failure. */
const readers = {
  nohup: (args) => (args[0] === '--' ? args.slice(1) : args),
  setsid: (args) => {
    const at = args.findIndex((arg) => !/^-(?:[cfw]+|-ctty|-fork|-wait)$/.test(arg));
    return at < 0 ? [] : args.slice(args[at] === '--' ? at + 1 : at);
  },
  nice: (args) => {
    let at = 0;
    while (/^-/.test(args[at] ?? '') && args[at] !== '--') at += args[at] === '-n' || args[at] === '--adjustment' ? 2 : 1;
    return args.slice(args[at] === '--' ? at + 1 : at);
  },
};

/** Returns whether the shell itself starts the command of this launcher. */
export const isLauncher = (name) => Object.hasOwn(readers, name);

/**
 * Returns the command that a launcher starts: `{ name, args, detached }`. Returns undefined if no
 * command is given.
 */
export function launched(launcher, args) {
  const [name, ...rest] = readers[launcher](args);
  return name === undefined ? undefined : { name, args: rest, detached: launcher !== 'nice' };
}

/** Returns the result of a launcher without a command. */
export const withoutCommand = (launcher) =>
  ({
    nice: { stdout: '0\n', stderr: '', exitCode: 0 },
    nohup: { stdout: '', stderr: "nohup: missing operand\nTry 'nohup --help' for more information.\n", exitCode: FAILED },
    setsid: { stdout: '', stderr: 'setsid: no command specified\n', exitCode: 1 },
  })[launcher];

/** Returns the launcher's message about a command that cannot be started. */
export const cannotRun = (launcher, name, reason) =>
  launcher === 'nohup'
    ? `nohup: failed to run command '${name}': ${reason}\n`
    : launcher === 'nice'
      ? `nice: '${name}': ${reason}\n`
      : `setsid: failed to execute ${name}: ${reason}\n`;

function begin(name, args, detached) {
  const file = find(name, process.env.PATH, process.cwd());
  const missing = { exitCode: 127, message: 'No such file or directory' };
  return file === undefined
    ? missing
    : start({ file, args: [name, ...args], env: process.env, cwd: process.cwd(), fds: [0, 1, 2], detached });
}

/** Runs a launcher that another program than the shell started. */
export function runLauncher(launcher) {
  return async (args) => {
    const command = launched(launcher, args);
    if (command === undefined) {
      const { stdout, stderr, exitCode } = withoutCommand(launcher);
      write(1, Buffer.from(stdout));
      write(2, Buffer.from(stderr));
      return exitCode;
    }
    const inPlace = takePlace();
    const pid = begin(command.name, command.args, command.detached);
    if (typeof pid !== 'object') return exitCodeOf(await inPlace.ended(pid));
    write(2, Buffer.from(cannotRun(launcher, command.name, pid.message)));
    return pid.exitCode;
  };
}

const UNITS = { __proto__: null, '': 1, s: 1, m: 60, h: 3_600, d: 86_400 };

// Returns the milliseconds of a duration such as `1.5m`, or undefined.
function duration(text = '') {
  const [, number, unit] = /^(\d+(?:\.\d*)?|\.\d+)([smhd]?)$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * UNITS[unit] * 1_000;
}

function readTimeout(args) {
  const read = { signal: 15, killAfter: undefined, preserves: false, verbose: false };
  const rest = [...args];
  while (/^-./.test(rest[0] ?? '') && rest[0] !== '--') {
    const word = rest.shift();
    const [, option, attached] = /^(-[ks]|--kill-after|--signal)(?:=?(.+))?$/.exec(word) ?? [];
    if (option === undefined) {
      if (word === '--preserve-status') read.preserves = true;
      else if (word === '-v' || word === '--verbose') read.verbose = true;
      else if (word !== '--foreground') return { bad: `unrecognized option '${word}'` };
      continue;
    }
    const value = attached ?? rest.shift();
    if (option === '-s' || option === '--signal') {
      read.signal = signalNumber(value ?? '');
      if (read.signal === undefined) return { bad: `'${value}': invalid signal` };
    } else {
      read.killAfter = duration(value);
      if (read.killAfter === undefined) return { bad: `invalid time interval '${value}'` };
    }
  }
  if (rest[0] === '--') rest.shift();
  const [text, name, ...words] = rest;
  if (name === undefined) return { bad: 'missing operand' };
  const after = duration(text);
  return after === undefined ? { bad: `invalid time interval '${text}'` } : { ...read, after, name, words };
}

/** Runs `timeout`: starts a command, and sends the command a signal after a time. */
export async function timeout(args) {
  const read = readTimeout(args);
  if (read.bad !== undefined) {
    write(2, Buffer.from(`timeout: ${read.bad}\nTry 'timeout --help' for more information.\n`));
    return FAILED;
  }
  const { signal, killAfter, after, name, words, verbose } = read;
  const inPlace = takePlace();
  const pid = begin(name, words, false);
  if (typeof pid === 'object') {
    write(2, Buffer.from(`timeout: failed to run command '${name}': ${pid.message}\n`));
    return pid.exitCode;
  }
  let last;
  const send = (number) => {
    last = number;
    if (verbose) write(2, Buffer.from(`timeout: sending signal ${signalName(number).slice(3)} to command '${name}'\n`));
    try {
      process.kill(pid, number);
    } catch {
      // the command has just ended
    }
  };
  const timers = [];
  const later = (milliseconds, number, next) => {
    if (milliseconds === 0) return;
    const fire = () => {
      send(number);
      next?.();
    };
    timers.push(setTimeout(fire, Math.min(milliseconds, LONGEST_TIMER)));
  };
  later(after, signal, () => later(killAfter ?? 0, SIGKILL));
  inPlace.passTo(pid);
  const exitCode = exitCodeOf(await ended(pid));
  timers.forEach(clearTimeout);
  inPlace.leave();
  if (last === undefined || read.preserves) return exitCode;
  return last === SIGKILL ? KILLED : TIMED_OUT;
}
