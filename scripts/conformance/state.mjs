// What is known already, as a file of lines that grows while a run goes on: a run that was stopped goes on where it was. A line is
// `{ key, result, reason, ms }`; the last one of a key counts, and half a line at the end (the run was killed) is dropped.

import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

export function openState(path, { fresh = false } = {}) {
  mkdirSync(dirname(path), { recursive: true });
  if (fresh) rmSync(path, { force: true });
  const known = new Map();
  for (const line of linesOf(path)) {
    const entry = parse(line);
    if (entry !== undefined) known.set(entry.key, entry);
  }
  return {
    get: (key) => known.get(key),
    set(key, { result, reason, ms }) {
      const entry = { key, result, reason, ms };
      known.set(key, entry);
      appendFileSync(path, `${JSON.stringify(entry)}\n`);
      return entry;
    },
  };
}

function linesOf(path) {
  try {
    const lines = readFileSync(path, 'utf8').split('\n');
    // Whatever is not ended by a line break was cut off; what is appended next must not continue it.
    if (lines.pop() !== '') appendFileSync(path, '\n');
    return lines;
  } catch {
    return [];
  }
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
