// Stores known results in a file of lines that grows during a run, so that a stopped run can
// continue later. A line is `{ key, result, reason, ms }`. If a key has several lines, the last
// line is used. An incomplete line at the end (the run was killed) is ignored.

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
    // The text after the last line break is incomplete. The next line must not continue the
    // incomplete text.
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
