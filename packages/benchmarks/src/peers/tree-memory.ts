// Reads the memory of a process and of all its descendants.

import { readdirSync, readFileSync } from 'node:fs';
import { readFootprint } from '../machine/footprint.js';

export interface TreeMemory {
  /** Proportional: a page that n processes map counts for each of them as 1 / n of a page. */
  pssKib: number;
  rssKib: number;
  processes: number;
}

/** Returns the pids of a process and its descendants, from the lines of `/proc/PID/stat`. */
export function descendantsOf(root: number, stats: readonly string[]): number[] {
  const children = new Map<number, number[]>();
  for (const stat of stats) {
    const pid = Number.parseInt(stat, 10);
    // The program's name in brackets can contain spaces and brackets.
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = [root];
  for (let index = 0; index < found.length; index++) found.push(...(children.get(found[index] ?? 0) ?? []));
  return found;
}

export function readTreeMemory(root: number): TreeMemory {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readIfPresent(`/proc/${pid}/stat`));
  const footprints = descendantsOf(root, stats).map((pid) => readFootprint(pid));
  return {
    pssKib: footprints.reduce((sum, { memory }) => sum + memory.pssKib, 0),
    rssKib: footprints.reduce((sum, { rssKib }) => sum + rssKib, 0),
    processes: footprints.length,
  };
}

/** Returns the text of a file, or nothing if the process has ended. */
function readIfPresent(path: string): string[] {
  try {
    return [readFileSync(path, 'utf8')];
  } catch {
    return [];
  }
}
