// Runs a tool, hands on its output line by line, and turns its failure into an error with the end of what it said.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { BuildFailure } from './failure.mjs';
import { root } from './paths.mjs';

const KEPT_LINES = 60;

/** No tool of ours takes nearly that long; one that hangs must not hang whoever waits for it. */
const LONGEST_MS = 30 * 60_000;

/**
 * Runs `command` in the repository; `onLine` sees every line of both outputs.
 * `env` is laid over the environment. Resolves with all lines of stdout.
 */
export async function run(command, args, { onLine = () => {}, env = {}, missing, longestMs = LONGEST_MS } = {}) {
  const options = { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] };
  const child = spawn(command, args, options);
  // Not spawn's own `timeout`: for a command that is not there its timer is never cleared, and keeps this process alive.
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
