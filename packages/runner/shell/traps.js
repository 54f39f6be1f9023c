// `trap`: commands that run at a signal and at the script's end. As in any shell, the commands of a
// trap run between two commands of the script. Next: builtins.js.

import { signalName, signalNumber } from './processes.js';

const EXIT = 'EXIT';
const traps = new Map();
const pending = [];
const listeners = new Map();
const waiting = new Set();

/**
 * Returns `signal`, which resolves with the number of the next signal that has a trap, and `stop`,
 * which ends the wait.
 */
export function nextTrapped() {
  let stop;
  const signal = new Promise((resolve) => {
    if (pending.length > 0) resolve(signalNumber(pending[0]));
    waiting.add(resolve);
    stop = () => waiting.delete(resolve);
  });
  return { signal, stop };
}

/** Records a signal that this process sends to itself. Returns false if the signal has no trap. */
export function trapsOwn(number) {
  const name = signalName(number);
  if (!traps.has(name)) return false;
  if (traps.get(name) !== '') record(name);
  return true;
}

function record(name) {
  pending.push(name);
  for (const resolve of waiting) resolve(signalNumber(name));
  waiting.clear();
}

/**
 * Runs `trap TEXT WORD`; the text `-` removes a trap. Ignores ERR, DEBUG and RETURN. Returns false
 * for an unknown name.
 */
export function setTrap(text, word) {
  const name = word === '0' || word.toUpperCase() === EXIT ? EXIT : signalName(signalNumber(word));
  if (['ERR', 'DEBUG', 'RETURN'].includes(word)) return true;
  if (name === undefined) return false;
  const known = listeners.get(name);
  if (known) process.removeListener(name, known);
  listeners.delete(name);
  traps.delete(name);
  if (text === '-') return true;
  traps.set(name, text);
  if (name !== EXIT && name !== 'SIGKILL' && name !== 'SIGSTOP') {
    const listener = text === '' ? () => {} : () => record(name);
    listeners.set(name, listener);
    process.on(name, listener);
  }
  return true;
}

/** Returns the text that `trap` without arguments prints. */
export const listTraps = () => [...traps].map(([name, text]) => `trap -- '${text.replaceAll("'", "'\\''")}' ${name}\n`).join('');

let running = false;

/** Runs the traps of the signals that have arrived. */
export async function runTraps(interpreter) {
  while (pending.length > 0 && !running) await runTrap(interpreter, pending.shift());
}

async function runTrap(interpreter, name) {
  const text = traps.get(name);
  if (!text) return;
  const { state } = interpreter.ctx;
  const { lastExitCode } = state;
  running = true;
  try {
    await interpreter.runCommand('eval', [text], [], '', true);
    state.lastExitCode = lastExitCode;
    state.env.set('?', String(lastExitCode));
  } finally {
    running = false;
  }
}

/** Returns the commands of the trap of the script's end and removes the trap. */
export function takeExitTrap() {
  const text = traps.get(EXIT);
  traps.delete(EXIT);
  return text;
}

/**
 * Returns the commands of the pending signals, to run after the last command, and clears the
 * signals.
 */
export const trapsDue = () =>
  pending
    .splice(0)
    .map((name) => traps.get(name))
    .filter(Boolean);
