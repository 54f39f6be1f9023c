// The builtins jobs, fg, bg, wait, disown and kill. Next: jobs.js.

import { write } from './descriptors.js';
import { Interrupted, onInterrupt } from './interrupts.js';
import { allJobs, current, jobOf, jobOfPid, lineOf, monitor, remove, toBackground, toForeground } from './jobs.js';
import { signalName, signalNumber } from './processes.js';
import { nextTrapped, trapsOwn } from './traps.js';

const ok = (stdout = '') => ({ stdout, stderr: '', exitCode: 0 });
const fail = (stderr, exitCode = 1) => ({ stdout: '', stderr: `bash: ${stderr}\n`, exitCode });
const SIGNALED = 128;
const NO_CHILD = 127;

const find = (name) => (name.startsWith('%') ? jobOf(name) : jobOfPid(Number(name)));

export async function wait(_interpreter, args) {
  const names = args.filter((arg) => arg !== '-n' && arg !== '-f');
  const isAny = args.includes('-n');
  const all = allJobs();
  const wanted = names.length === 0 ? all : names.map(find);
  if (wanted.includes(undefined)) {
    const name = names[wanted.indexOf(undefined)];
    return fail(name.startsWith('%') ? `wait: ${name}: no such job` : `wait: pid ${name} is not a child of this shell`, NO_CHILD);
  }
  if (isAny && wanted.length === 0) return { ...ok(), exitCode: NO_CHILD };
  const trapped = nextTrapped();
  let ignore;
  const interrupted = new Promise((_, reject) => {
    ignore = onInterrupt(() => reject(new Interrupted()));
  });
  let exitCode = 0;
  try {
    const ends = isAny ? [Promise.race(wanted.map((job) => job.ended))] : wanted.map((job) => job.ended);
    for (const end of ends) {
      const signal = trapped.signal.then((number) => ({ number }));
      const got = await Promise.race([end, signal, interrupted]);
      if (typeof got === 'object') return { ...ok(), exitCode: SIGNALED + got.number };
      exitCode = got;
    }
  } finally {
    trapped.stop();
    ignore();
  }
  for (const job of wanted) if (job.state === 'Done' && (isAny || names.length === 0)) remove(job);
  return { ...ok(), exitCode: names.length === 0 && !isAny ? 0 : exitCode };
}

export function listJobs(_interpreter, args) {
  const flags = args.filter((arg) => /^-./.test(arg)).join('');
  const names = args.filter((arg) => !/^-./.test(arg));
  const unknown = names.find((name) => jobOf(name) === undefined);
  if (unknown !== undefined) return fail(`jobs: ${unknown}: no such job`);
  const wanted = (names.length === 0 ? allJobs() : names.map(jobOf)).filter(({ state }) =>
    flags.includes('r') ? state === 'Running' : flags.includes('s') ? state === 'Stopped' : true,
  );
  const text = wanted
    .map((job) => (flags.includes('p') ? `${job.group ?? job.pids[0]}\n` : lineOf(job, flags.includes('l'))))
    .join('');
  for (const job of wanted) if (job.state === 'Done') remove(job);
  return ok(text);
}

// Returns the jobs that the words name, or the failure. Without words, returns the current job.
function named(command, args) {
  if (!monitor.isOn) return { failure: fail(`${command}: no job control`) };
  const words = args[0] === '--' ? args.slice(1) : args;
  const found = words.length === 0 ? [current()] : words.map((word) => jobOf(word));
  const at = found.indexOf(undefined);
  if (at >= 0) return { failure: fail(`${command}: ${words[at] ?? 'current'}: no such job`) };
  const ended = found.find(({ state }) => state === 'Done');
  return ended === undefined ? { found } : { failure: fail(`${command}: job has terminated`) };
}

export async function fg(_interpreter, args) {
  const { found, failure } = named('fg', args.slice(0, 1));
  if (failure !== undefined) return failure;
  const [job] = found;
  write(1, Buffer.from(`${job.command}\n`));
  return { ...ok(), exitCode: await toForeground(job) };
}

export function bg(_interpreter, args) {
  const { found, failure } = named('bg', args);
  if (failure !== undefined) return failure;
  let stdout = '';
  for (const job of found) {
    toBackground(job);
    stdout += `[${job.number}]+ ${job.command} &\n`;
  }
  return ok(stdout);
}

export function disown(_interpreter, args) {
  const flags = args.filter((arg) => /^-./.test(arg)).join('');
  const names = args.filter((arg) => !/^-./.test(arg));
  const isAll = flags.includes('a') || flags.includes('r');
  const found = isAll ? allJobs().filter(({ state }) => !flags.includes('r') || state === 'Running') : names.map(find);
  if (!isAll && names.length === 0) found.push(current());
  const at = found.indexOf(undefined);
  if (at >= 0) return fail(`disown: ${names[at] ?? 'current'}: no such job`);
  for (const job of found) {
    if (flags.includes('h')) job.isKept = false;
    else remove(job);
  }
  return ok();
}

function listSignals([name]) {
  if (name === undefined) {
    const names = Array.from({ length: 31 }, (_, index) => signalName(index + 1)?.slice(3));
    return ok(`${names.filter(Boolean).join(' ')}\n`);
  }
  const text = /^\d+$/.test(name) ? signalName(Number(name) & 0x7f)?.slice(3) : signalNumber(name);
  return text === undefined ? fail(`kill: ${name}: invalid signal specification`) : ok(`${text}\n`);
}

export function kill(_interpreter, args) {
  if (args[0] === '-l' || args[0] === '-L') return listSignals(args.slice(1));
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
  for (const target of targets) result = send(target, number) ?? result;
  return result;
}

// Sends a signal to a process or to the processes of a job. Returns the failure, or undefined.
function send(target, number) {
  if (target.startsWith('%')) {
    const job = jobOf(target);
    if (job === undefined) return fail(`kill: ${target}: no such job`);
    if (job.group === undefined) return job.pids.map((pid) => sendTo(pid, target, number)).find(Boolean);
    // A stopped job receives the signal when it continues.
    const failure = sendTo(-job.group, target, number);
    if (job.state === 'Stopped' && [1, 15].includes(number)) sendTo(-job.group, target, signalNumber('CONT'));
    return failure;
  }
  const pid = Number(target);
  return Number.isInteger(pid) && target !== ''
    ? sendTo(pid, target, number)
    : fail(`kill: ${target}: arguments must be process or job IDs`);
}

function sendTo(pid, target, number) {
  if (pid === process.pid && trapsOwn(number)) return undefined;
  try {
    process.kill(pid, number);
    return undefined;
  } catch (error) {
    return fail(`kill: (${target}) - ${error.code === 'ESRCH' ? 'No such process' : 'Operation not permitted'}`);
  }
}
