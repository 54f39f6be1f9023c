// The jobs of this shell: pipelines in the background, and pipelines that were stopped. With job
// control (`monitor.isOn`, in an interactive shell on a terminal) each job has a process group of
// its own. The job in the foreground has the terminal: the keys ^C and ^Z send signals to this
// group only. Without job control, jobs stay in the group of the shell, as in a script.
// Next: job-builtins.js.

import kernel from 'coldframe:kernel';
import { write } from './descriptors.js';
import { Interrupted } from './interrupts.js';
import { ended, exitCodeOf, signalName } from './processes.js';
import { sink } from './sink.js';

const STOPPED = 0x7f;
const CONTINUED = 0xffff;
const UNTRACED = 1;
const ALSO_CONTINUED = 2;
const SIGNALED = 128;
const SIGINT = 2;
const SIGPIPE = 13;
const STATE_WIDTH = 24;
const TERMINAL = 0;

/**
 * `isOn` is true with job control. `group` is the shell's own process group, and `attributes` are
 * the attributes of the terminal for the next job.
 */
export const monitor = { isOn: false, group: 0, attributes: undefined };

// The process group of a new job. The first process that is started creates the group.
class Group {
  id;
  #isForeground;

  constructor(isForeground) {
    this.#isForeground = isForeground;
  }
  /** Returns the options of `start` for the next process of the job. */
  next() {
    return { group: this.id ?? 0, foreground: this.#isForeground };
  }
  started(pid) {
    this.id ??= pid;
  }
}

/** The group of the shell itself. */
export const noGroup = { id: undefined, next: () => ({}), started: () => {} };

/** Returns whether new jobs get process groups of their own. */
export const usesJobControl = () => monitor.isOn;

/** Returns the process group for a job in the background. */
export const backgroundGroup = () => (monitor.isOn ? new Group(false) : noGroup);

/**
 * Returns the process group for a job in the foreground. Programs whose output is a value stay in
 * the group of the shell, because the shell waits for their output.
 */
export const foregroundGroup = () => (monitor.isOn && sink.out && sink.err ? new Group(true) : noGroup);

/** All jobs, in the order in which each was last started or stopped. The last one is `%+`. */
let jobs = [];

export const allJobs = () => [...jobs].sort((a, b) => a.number - b.number);
export const current = () => jobs.at(-1);
export const previous = () => jobs.at(-2);

export function remove(job) {
  jobs = jobs.filter((other) => other !== job);
}

function makeCurrent(job) {
  remove(job);
  jobs.push(job);
}

class Job {
  number;
  isKept = true;
  #codes = new Map();
  #stopped = new Map();
  #waiting = new Set();
  #last;

  constructor(pids, command, group) {
    Object.assign(this, { pids, command, group });
    this.ended = Promise.all(pids.map((pid) => this.#follow(pid))).then(() => this.status);
  }
  /** The exit code of the last process, or undefined. */
  get status() {
    return this.#codes.get(this.pids.at(-1));
  }
  get codes() {
    return this.#codes;
  }
  get state() {
    if (this.#codes.size === this.pids.length) return 'Done';
    return this.#codes.size + this.#stopped.size === this.pids.length ? 'Stopped' : 'Running';
  }
  /** The number of the signal that stopped the job. */
  get stopSignal() {
    return [...this.#stopped.values()].at(-1) ?? 0;
  }
  /** The number of the signal that ended the last process, or 0. */
  get signal() {
    return this.#last === undefined ? 0 : this.#last & STOPPED;
  }
  /** Resolves at the next change of the job. */
  changed() {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }
  continued() {
    this.#stopped.clear();
  }
  async #follow(pid) {
    let status = await changeOf(pid, UNTRACED);
    while ((status & 0xff) === STOPPED || status === CONTINUED) {
      if (status === CONTINUED) this.#stopped.delete(pid);
      else this.#stopped.set(pid, status >> 8);
      this.#report();
      status = await changeOf(pid, UNTRACED | ALSO_CONTINUED);
    }
    this.#stopped.delete(pid);
    this.#codes.set(pid, exitCodeOf(status));
    if (pid === this.pids.at(-1)) this.#last = status;
    this.#report();
  }
  #report() {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

const changeOf = (pid, flags) => (monitor.isOn ? new Promise((resolve) => kernel.waitChange(pid, flags, resolve)) : ended(pid));

function keep(job) {
  job.number ??= Math.max(0, ...jobs.map(({ number }) => number)) + 1;
  makeCurrent(job);
}

/** Adds a job in the background. */
export function addJob(pids, command, group) {
  const job = new Job(pids, command, group);
  keep(job);
  if (monitor.isOn) write(2, Buffer.from(`[${job.number}] ${pids.at(-1)}\n`));
  return job;
}

/** Returns the job of a process, or undefined. */
export const jobOfPid = (pid) => jobs.find(({ pids }) => pids.includes(pid));

/** Returns the job that a word such as `%1`, `%+`, `%-` or `%name` names, or undefined. */
export function jobOf(word) {
  const name = word.replace(/^%/, '');
  if (name === '' || name === '%' || name === '+') return current();
  if (name === '-') return previous() ?? current();
  if (/^\d+$/.test(name)) return jobs.find(({ number }) => number === Number(name));
  const matches = name.startsWith('?') ? (job) => job.command.includes(name.slice(1)) : (job) => job.command.startsWith(name);
  return jobs.findLast(matches);
}

const SIGNAL_TEXTS = {
  __proto__: null,
  SIGHUP: 'Hangup',
  SIGINT: 'Interrupt',
  SIGQUIT: 'Quit',
  SIGABRT: 'Aborted',
  SIGKILL: 'Killed',
  SIGSEGV: 'Segmentation fault',
  SIGPIPE: 'Broken pipe',
  SIGALRM: 'Alarm clock',
  SIGTERM: 'Terminated',
  SIGUSR1: 'User defined signal 1',
  SIGUSR2: 'User defined signal 2',
};
const STOP_TEXTS = { __proto__: null, SIGSTOP: ' (signal)', SIGTTIN: ' (tty input)', SIGTTOU: ' (tty output)' };

function stateText(job) {
  const { state, signal, status } = job;
  if (state === 'Stopped') return `Stopped${STOP_TEXTS[signalName(job.stopSignal)] ?? ''}`;
  if (state !== 'Done') return state;
  if (signal > 0) return SIGNAL_TEXTS[signalName(signal)] ?? signalName(signal) ?? `Signal ${signal}`;
  return status === 0 ? 'Done' : `Exit ${status}`;
}

/** Returns the line of `jobs` for a job. */
export function lineOf(job, withPid = false) {
  const mark = job === current() ? '+' : job === previous() ? '-' : ' ';
  const pid = withPid ? `${job.group ?? job.pids[0]} ` : '';
  const suffix = job.state === 'Running' ? ' &' : '';
  return `[${job.number}]${mark}  ${pid}${stateText(job).padEnd(STATE_WIDTH)}${job.command}${suffix}\n`;
}

/** Writes the jobs that have ended since the last prompt, and removes the jobs. */
export function reportEnded() {
  for (const job of allJobs()) {
    if (job.state !== 'Done') continue;
    write(2, Buffer.from(lineOf(job)));
    remove(job);
  }
}

function takeTerminal(job) {
  kernel.setForeground(TERMINAL, monitor.group);
  // A job that ended by itself may have set the terminal for later jobs, as `stty` does.
  const endedByItself = job.state === 'Done' && job.signal === 0;
  if (endedByItself) monitor.attributes = kernel.getAttributes(TERMINAL);
  else if (monitor.attributes !== undefined) kernel.setAttributes(TERMINAL, monitor.attributes);
}

// Waits until a job in the foreground ends or stops. Throws Interrupted after ^C.
async function awaitJob(job) {
  while (job.state === 'Running') await job.changed();
  takeTerminal(job);
  if (job.state === 'Stopped') {
    keep(job);
    write(2, Buffer.from(`\n${lineOf(job)}`));
    return SIGNALED + job.stopSignal;
  }
  remove(job);
  if (job.signal === SIGINT) {
    write(2, Buffer.from('\n'));
    throw new Interrupted();
  }
  if (job.signal > 0 && job.signal !== SIGPIPE) write(2, Buffer.from(`${stateText(job)}\n`));
  return job.status;
}

/**
 * Waits for the processes of a pipeline in the foreground. Returns pid → exit code. If the user
 * stops the pipeline, it becomes a job, and the exit code of its processes names the signal.
 */
export async function awaitForeground(pids, command, group) {
  const job = new Job(pids, command(), group);
  const exitCode = await awaitJob(job);
  return new Map(pids.map((pid) => [pid, job.codes.get(pid) ?? exitCode]));
}

/** Continues a job in the foreground, and waits. Returns the exit code. */
export async function toForeground(job) {
  kernel.setForeground(TERMINAL, job.group);
  resume(job);
  return awaitJob(job);
}

/** Continues a job in the background. */
export function toBackground(job) {
  makeCurrent(job);
  resume(job);
}

function resume(job) {
  job.continued();
  process.kill(-job.group, 'SIGCONT');
}

/** Sends SIGHUP to the jobs, when the terminal of the shell has ended. */
export function hangUp() {
  for (const job of jobs) {
    if (!job.isKept || job.group === undefined) continue;
    for (const signal of ['SIGHUP', 'SIGCONT'])
      try {
        process.kill(-job.group, signal);
      } catch {
        // the job has just ended
      }
  }
}
