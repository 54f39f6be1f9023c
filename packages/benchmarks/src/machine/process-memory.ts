// Memory of another process, from /proc.
//
// Private pages are what a process costs beyond what it shares: the runtime image is mapped by every runtime and counted once, by
// nobody. Page tables are private too but stand in no map, so they are read apart. Pss is kept beside it: it would show memory
// that was moved into shared mappings to look cheap.

import { readFileSync } from 'node:fs';

export interface ProcessMemory {
  /** Written by this process, or anonymous. */
  privateDirtyKib: number;
  /** Of files that no other process maps at the moment. */
  privateCleanKib: number;
  pageTablesKib: number;
  pssKib: number;
}

export const readProcessMemory = (pid: number): ProcessMemory =>
  parseProcessMemory(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), readFileSync(`/proc/${pid}/status`, 'utf8'));

export function parseProcessMemory(smapsRollup: string, status: string): ProcessMemory {
  return {
    privateDirtyKib: field(smapsRollup, 'Private_Dirty'),
    privateCleanKib: field(smapsRollup, 'Private_Clean'),
    pageTablesKib: field(status, 'VmPTE'),
    pssKib: field(smapsRollup, 'Pss'),
  };
}

/**
 * By how much private memory and page tables have grown. Clean pages of a file stop being private when another process maps the same
 * file, which would make a growth look smaller than it was: a fall of them is left out.
 */
export function privateGrowthKib(before: ProcessMemory, after: ProcessMemory): number {
  const clean = Math.max(0, after.privateCleanKib - before.privateCleanKib);
  return after.privateDirtyKib - before.privateDirtyKib + clean + after.pageTablesKib - before.pageTablesKib;
}

function field(text: string, name: string): number {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text);
  if (!match?.[1]) throw new Error(`expected a line "${name}: … kB" in the process's memory report`);
  return Number(match[1]);
}
