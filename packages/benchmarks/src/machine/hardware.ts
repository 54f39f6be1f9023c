// What the figures were measured on: the `hardware` object of the JSON.

import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';

export interface Hardware {
  cpu: string;
  cores: number;
  ramGib: number;
  memoryAvailableGib: number;
  loadAverage: number[];
  node: string;
  arch: string;
  kernel: string;
}

const gib = (bytes: number): number => Math.round((bytes / 2 ** 30) * 100) / 100;

export function describeHardware(): Hardware {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    ramGib: gib(totalmem()),
    memoryAvailableGib: gib(memoryAvailable()),
    loadAverage: loadavg().map((load) => Math.round(load * 100) / 100),
    node: process.version,
    arch: arch(),
    kernel: release(),
  };
}

/** `os.freemem()` leaves out the page cache, which is free for the asking. */
function memoryAvailable(): number {
  const match = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'));
  return match?.[1] ? Number(match[1]) * 1024 : 0;
}
