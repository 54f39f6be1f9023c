// Describes the machine that a run was measured on: the `hardware` object of the JSON.

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

const roundTo2 = (value: number): number => Math.round(value * 100) / 100;

export function describeHardware(): Hardware {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    ramGib: roundTo2(totalmem() / 2 ** 30),
    memoryAvailableGib: roundTo2(availableMemoryKib() / 2 ** 20),
    loadAverage: loadavg().map(roundTo2),
    node: process.version,
    arch: arch(),
    kernel: release(),
  };
}

/**
 * Returns the available memory. `os.freemem()` leaves out the page cache, which the system can
 * reclaim.
 */
export const availableMemoryKib = (): number =>
  Number(/^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0);
