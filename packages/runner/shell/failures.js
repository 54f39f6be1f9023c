// Corrects the reasons of failed file calls in the messages of just-bash's commands. Most commands
// report every failure of a file as a missing file, and some print the message of Node's error. So
// the file system records its failures, and the messages of a command receive the recorded reasons.
// Next: reasons.js.

import { posix } from 'node:path';
import { reasonOf } from './reasons.js';

/** The failures of the present command: path → error. */
const failed = new Map();
const MISSING = 'No such file or directory';
const MISSING_LINE = /^[^:]+: (?:[^']*')?(.*?)'?: No such file or directory$/;
const NODE_MESSAGE = /\b(E[A-Z\d]{2,}): .*$/;

/** Returns a file system that records the failures of its calls. */
export const recorded = (calls) =>
  Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [name, call.constructor.name === 'AsyncFunction' ? recording(call) : call]),
  );

const recording =
  (call) =>
  async (...args) => {
    try {
      return await call(...args);
    } catch (error) {
      for (const path of [args[0], args[1]]) if (typeof path === 'string') failed.set(path, error);
      throw error;
    }
  };

/** Forgets the failures of earlier commands. */
export const forgetFailures = () => failed.clear();

/** Returns the messages of the command `name` in `cwd` with the recorded reasons. */
export function withReasons(stderr, name, cwd) {
  if (!stderr || failed.size === 0) return stderr;
  return stderr
    .split('\n')
    .map((line) => (line.startsWith(`${name}: `) || line.startsWith('bash: ') ? corrected(line, name, cwd) : line))
    .join('\n');
}

function corrected(line, name, cwd) {
  const [, path] = MISSING_LINE.exec(line) ?? [];
  if (path !== undefined) {
    const error = failed.get(posix.resolve(cwd, path));
    return error === undefined ? line : line.slice(0, -MISSING.length) + reasonOf(error);
  }
  const found = NODE_MESSAGE.exec(line);
  const error = found && [...failed.values()].findLast(({ code }) => code === found[1]);
  if (!error) return line;
  const before = line.slice(0, found.index);
  // A message with the words of the error alone names no file.
  const file = before === `${name}: ` && error.path !== undefined ? `${error.path}: ` : '';
  return before + file + reasonOf(error);
}
