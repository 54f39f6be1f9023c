// What the operating system says of processes: which are there, what they hold, how much memory is theirs alone.

import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Pids of the children of `parent` that have not been reaped. */
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

/** Whether there is a process of that number, ended or not. */
export const isThere = (pid: number): boolean => existsSync(`/proc/${pid}`);

/** The same, without those that have ended and wait to be reaped, as orphans do. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !'ZX'.includes(stat.charAt(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** What the open descriptors of a process are, sorted. Numbers of sockets and the like are left out. */
export function descriptorsOf(pid = process.pid): string[] {
  return readdirSync(`/proc/${pid}/fd`)
    .map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`).replace(/:\[\d+\]$/, '');
      } catch {
        return undefined; // the one with which the directory is being read
      }
    })
    .filter((target) => target !== undefined && !target.startsWith(`/proc/${pid}`))
    .sort() as string[];
}

/**
 * Memory that a process holds, in bytes. Pages of files are left out: they are the page cache's, and every slot that an image was
 * mapped in once counts them again, up to so many as the machine lets be in use at one time.
 */
export function residentBytes(pid = process.pid): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (row: string): number => Number(new RegExp(`^${row}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
  return (kilobytes('RssAnon') + kilobytes('RssShmem')) * 1024;
}

/** Waits until `condition` holds; fails after `ms`. */
export async function until(condition: () => boolean, ms: number, what: string): Promise<void> {
  const end = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`${what}: not within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
