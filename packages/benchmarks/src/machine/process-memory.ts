// Memory of another process, from /proc.
//
// Private pages are what a process costs beyond what it shares: the runtime image is mapped by every runtime and counted once, by
// nobody. Page tables are private too but stand in no map, so they are read apart. Pss is kept beside it: it would show memory
// that was moved into shared mappings to look cheap.

import { readFileSync } from 'node:fs';

export interface ProcessMemory {
  privateKib: number;
  pageTablesKib: number;
  pssKib: number;
}

export const readProcessMemory = (pid: number): ProcessMemory =>
  parseProcessMemory(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), readFileSync(`/proc/${pid}/status`, 'utf8'));

export function parseProcessMemory(smapsRollup: string, status: string): ProcessMemory {
  return {
    privateKib: field(smapsRollup, 'Private_Dirty') + field(smapsRollup, 'Private_Clean'),
    pageTablesKib: field(status, 'VmPTE'),
    pssKib: field(smapsRollup, 'Pss'),
  };
}

function field(text: string, name: string): number {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text);
  if (!match?.[1]) throw new Error(`expected a line "${name}: … kB" in the process's memory report`);
  return Number(match[1]);
}
