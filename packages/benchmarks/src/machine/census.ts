// What a process holds at a moment, from /proc: memory, page tables, mappings, descriptors. Whoever compares two of them sees what was left behind.

import { readdirSync, readFileSync } from 'node:fs';
import { type ProcessMemory, parseProcessMemory } from './process-memory.js';

export interface Census {
  memory: ProcessMemory;
  rssKib: number;
  /** Lines of its map: the system allows a process `vm.max_map_count` of them. */
  mappings: number;
  descriptors: number;
}

export function takeCensus(pid: number): Census {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    memory: parseProcessMemory(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), status),
    rssKib: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0),
    mappings: countLines(readFileSync(`/proc/${pid}/maps`)),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

function countLines(text: Buffer): number {
  let lines = 0;
  for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) lines++;
  return lines;
}
