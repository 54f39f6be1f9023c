// Children of the shell: finds commands, starts processes, and converts wait statuses. Next:
// interpreter.js, which decides which commands are children.

import kernel from 'coldframe:kernel';
import fs from 'node:fs';
import { constants } from 'node:os';
import { posix } from 'node:path';

const ENOENT = -2;
const ENOEXEC = -8;
const EACCES = -13;
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
const SIGNALED = 128;

/**
 * The command of this process, which is found without PATH. `everything` is true while the image is
 * made, when every command counts as found, because no files exist. `hasStarted` is true when the
 * command of this process runs.
 */
export const applet = { name: undefined, everything: false, hasStarted: false };

/**
 * The name of this shell, `sh` or `bash`, and the flags of `$-` that its start decides. A copy of
 * the shell runs the same file.
 */
export const shellProcess = { name: 'bash', flags: '' };
export const shellFile = () => `/bin/${shellProcess.name}`;

/** Returns the file of a command's name, or undefined. */
export function find(name, path, cwd) {
  if (name.includes('/')) return name;
  if (name === applet.name || applet.everything) return `/bin/${name}`;
  for (const folder of (path ?? '/usr/local/bin:/usr/bin:/bin').split(':')) {
    const candidate = posix.resolve(cwd, folder, name);
    try {
      if (!fs.statSync(candidate).isFile()) continue;
      fs.accessSync(candidate, fs.constants.X_OK);
      return candidate;
    } catch {
      // not in this folder: search the next folder
    }
  }
  return undefined;
}

/** The children that have not ended: pid → whether the child runs in the background. */
export const children = new Map();
let startsInBackground = false;

/** Runs `work`, whose children run in the background. */
export async function inBackground(work) {
  startsInBackground = true;
  try {
    return await work();
  } finally {
    startsInBackground = false;
  }
}

/**
 * Starts `file`. The shell runs scripts whose first line names no interpreter. The other options
 * are the options of the kernel's `spawn`. `fds` maps the child's descriptors to descriptors of
 * this process. Returns the child's pid, or the failure: `{ exitCode, message }`.
 */
export function start({ file, args, env, ...options }) {
  const { cwd } = options;
  const pairs = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  let pid = kernel.spawn({ file, args, env: pairs, ...options });
  if (pid === ENOEXEC) pid = kernel.spawn({ file: '/bin/sh', args: ['sh', file, ...args.slice(1)], env: pairs, ...options });
  if (pid < 0) return failure(pid, file, cwd);
  children.set(pid, startsInBackground);
  return pid;
}

function failure(error, file, cwd) {
  if (error === ENOENT) return { exitCode: NOT_FOUND, message: 'No such file or directory' };
  if (error !== EACCES) return { exitCode: NOT_EXECUTABLE, message: kernel.describe(error) };
  const denial = kernel.denial();
  if (denial !== undefined) return { exitCode: NOT_EXECUTABLE, message: `Permission denied (${denial})` };
  const isDirectory = fs.statSync(posix.resolve(cwd, file), { throwIfNoEntry: false })?.isDirectory();
  return { exitCode: NOT_EXECUTABLE, message: isDirectory ? 'Is a directory' : 'Permission denied' };
}

/**
 * Checks whether the policy lets the shell run its own command `name`, whose file is `file`, in
 * this process. The rules about programs apply to the command as if the command were a process.
 * Returns the failure: `{ exitCode, message }`, or undefined.
 */
export function refused(name, file, cwd) {
  if (applet.everything) return undefined;
  // The start of this process was checked, or the app started the command.
  if (name === applet.name && !applet.hasStarted) {
    applet.hasStarted = true;
    return undefined;
  }
  const error = kernel.mayRun(posix.resolve(cwd, file));
  return error < 0 ? failure(error, file, cwd) : undefined;
}

const NAMES = Object.fromEntries(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** Returns the number of a signal by name (with or without SIG) or number, or undefined. */
export function signalNumber(text) {
  if (/^\d+$/.test(text)) return Number(text);
  const name = text.toUpperCase();
  return constants.signals[name.startsWith('SIG') ? name : `SIG${name}`];
}

export const signalName = (number) => NAMES[number];

/** Returns `$?` for a wait status. */
export const exitCodeOf = (status) => ((status & 0x7f) > 0 ? SIGNALED + (status & 0x7f) : status >> 8);

/** Resolves with the wait status. Signals are delivered meanwhile. */
export const ended = (pid) =>
  new Promise((resolve) => {
    kernel.wait(pid, (status) => {
      children.delete(pid);
      resolve(status);
    });
  });

const PASSED_ON = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'];

/**
 * `isGiven` is true if the next program replaces the shell, as in `exec` or in `sh -c` with one
 * program.
 */
export const place = { isGiven: false };

/**
 * Prepares a program that replaces the shell. The program receives the shell's signals, and the
 * shell ends with the program's exit code. Signals are passed on from this call on, before the
 * program starts, because a reader of the first output may send a signal at once. The result has
 * `ended(pid)`, which resolves like the exported function `ended`, and `passTo(pid)`, which only
 * passes signals on. The caller must call `leave()`
 * if no program was started.
 */
export function takePlace() {
  let child;
  // The keys of a terminal send their signals to the program too, which is in the shell's group.
  const isFromKeys = (name) => (name === 'SIGINT' || name === 'SIGQUIT') && kernel.isTerminal(0);
  const pass = (name) => {
    if (isFromKeys(name)) return;
    try {
      process.kill(child, name);
    } catch {
      // the program has just ended
    }
  };
  for (const name of PASSED_ON) process.on(name, pass);
  const leave = () => {
    for (const name of PASSED_ON) process.removeListener(name, pass);
  };
  const passTo = (pid) => {
    child = pid;
  };
  return {
    leave,
    passTo,
    async ended(pid) {
      // `child` is set in the turn of the start, before a signal can be delivered.
      passTo(pid);
      const status = await ended(pid);
      leave();
      if ((status & 0x7f) > 0) process.kill(process.pid, status & 0x7f);
      return status;
    },
  };
}
