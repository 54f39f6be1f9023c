// Reads the resources of a process from /proc: memory, page tables, mappings and descriptors.
//
// A caller compares two footprints of one process: the difference is the cost of the work between
// the two readings, or a leak. Private pages are the pages of a process that no other process maps.
// Pages of the runtime image are shared among runtimes and are charged to no runtime. Page tables
// are private too, but no map lists page tables, so the code reads their size separately. Pss is
// recorded too, because Pss includes memory in shared mappings.

import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessMemory {
  /** Pages that the process has written, and anonymous pages. */
  privateDirtyKib: number;
  /** Pages of files that no other process maps at present. */
  privateCleanKib: number;
  pageTablesKib: number;
  pssKib: number;
}

export interface Footprint {
  memory: ProcessMemory;
  rssKib: number;
  /** Lines of the process's map. The system allows a process `vm.max_map_count` mappings. */
  mappings: number;
  descriptors: number;
}

export function readFootprint(pid: number): Footprint {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    memory: parseProcessMemory(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), status),
    rssKib: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0),
    mappings: countLines(readFileSync(`/proc/${pid}/maps`)),
    descriptors: countDescriptors(pid),
  };
}

export const readProcessMemory = (pid: number): ProcessMemory =>
  parseProcessMemory(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), readFileSync(`/proc/${pid}/status`, 'utf8'));

export const countDescriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

export function parseProcessMemory(smapsRollup: string, status: string): ProcessMemory {
  return {
    privateDirtyKib: field(smapsRollup, 'Private_Dirty'),
    privateCleanKib: field(smapsRollup, 'Private_Clean'),
    pageTablesKib: field(status, 'VmPTE'),
    pssKib: field(smapsRollup, 'Pss'),
  };
}

/**
 * Returns the growth of private memory and page tables. Clean pages of a file stop being private
 * when another process maps the file. The decrease of clean pages would hide a growth of other
 * pages, so a decrease counts as 0.
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

const LINE_FEED = 10;

function countLines(text: Buffer): number {
  let lines = 0;
  for (let at = text.indexOf(LINE_FEED); at !== -1; at = text.indexOf(LINE_FEED, at + 1)) lines++;
  return lines;
}
