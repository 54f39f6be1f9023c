// Runs a program, forwards its output line by line, and turns its failure into an error with the
// last lines of the output.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { BuildFailure } from './failure.mjs';
import { root } from './paths.mjs';

const KEPT_LINES = 60;

/**
 * The longest time that a program may run if the caller sets no other time. A program that hangs
 * must not block its caller forever. Every program of the build ends much sooner.
 */
const LONGEST_MS = 30 * 60_000;

/**
 * Runs `command` in the repository. Calls `onLine` for every line of both outputs. `env` overrides
 * variables of the environment. Resolves with all lines of stdout.
 */
export async function run(command, args, { onLine = () => {}, env = {}, missing, longestMs = LONGEST_MS } = {}) {
  const options = { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] };
  const child = spawn(command, args, options);
  // `spawn` has a `timeout` too. For a missing command its timer is never cleared, and keeps this
  // process alive.
  const longest = setTimeout(() => child.kill('SIGKILL'), longestMs);
  const tail = [];
  const stdout = [];
  const read = async (stream, kept) => {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
      kept?.push(line);
      tail.push(line);
      if (tail.length > KEPT_LINES) tail.shift();
      onLine(line);
    }
  };
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const reading = Promise.all([read(child.stdout, stdout), read(child.stderr)]);
  try {
    const { code, signal } = await ended;
    await reading;
    if (code === 0) return stdout;
    const end = signal
      ? `was ended by ${signal} (after ${longestMs / 60_000} min at the latest)`
      : `ended with exit code ${code}`;
    throw new BuildFailure(`\`${[command, ...args].join(' ')}\` ${end}:\n\n${tail.join('\n')}`);
  } catch (error) {
    if (error.code === 'ENOENT') throw new BuildFailure(missing ?? `\`${command}\` was not found on PATH`);
    throw error;
  } finally {
    clearTimeout(longest);
  }
}
