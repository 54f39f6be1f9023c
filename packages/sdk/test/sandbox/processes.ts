// Reads facts of the operating system about processes: children, descriptors, memory.

import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Returns the pids of the children of `parent` that have not been reaped. */
export function childrenOf(parent = process.pid): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

/** Returns whether a process with that pid exists, running or waiting to be reaped. */
export const processExists = (pid: number): boolean => existsSync(`/proc/${pid}`);

/**
 * Returns whether a process runs. An ended process that waits to be reaped, such as an orphan, does
 * not run.
 */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !'ZX'.includes(stat.charAt(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/**
 * Returns the targets of a process's open descriptors, sorted, without inode numbers of sockets and
 * pipes.
 */
export function descriptorsOf(pid = process.pid): string[] {
  return readdirSync(`/proc/${pid}/fd`)
    .map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`).replace(/:\[\d+\]$/, '');
      } catch {
        return undefined; // the descriptor that reads the directory
      }
    })
    .filter((target) => target !== undefined && !target.startsWith(`/proc/${pid}`))
    .sort() as string[];
}

/**
 * Returns the memory of a process in bytes, without pages of files. Pages of files belong to the
 * page cache, and are counted once for each slot that maps an image.
 */
export function residentBytes(pid = process.pid): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (row: string): number => Number(new RegExp(`^${row}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
  return (kilobytes('RssAnon') + kilobytes('RssShmem')) * 1024;
}

/** Waits until `condition` returns true. Fails after `ms` milliseconds. */
export async function until(condition: () => boolean, ms: number, event: string): Promise<void> {
  const end = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`${event}: not within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Returns the bytes of a process's heaps and stacks: the private pages outside mappings of files.
 * The written pages of a guest's image belong to a mapping of a file.
 */
export function heapBytes(pid: number): number {
  let bytes = 0;
  let isHeap = false;
  for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
    const mapping = /^[\da-f]+-[\da-f]+ (\S+) \S+ \S+ (\d+)\s*(.*)$/.exec(line);
    if (mapping) isHeap = mapping[2] === '0' && mapping[1] !== '---p';
    else if (isHeap && line.startsWith('Anonymous:')) bytes += Number(/\d+/.exec(line)?.[0]) * 1_024;
  }
  return bytes;
}
