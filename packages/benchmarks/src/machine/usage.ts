// Who used the processors while we measured.
//
// `/proc/stat` counts all processors' time in ticks; our own share is this process plus the children it has already waited for
// (`/proc/self/stat`). What is busy and not ours is a neighbour, and `steal` is time that the hypervisor gave to another machine.
// Ticks are 10 ms: a span shorter than half a second is not judged.

import { readFileSync } from 'node:fs';

export interface CpuTicks {
  total: number;
  busy: number;
  steal: number;
  ours: number;
}

export interface UsageShares {
  /** Share of all processor time used by others. */
  others: number;
  steal: number;
}

export const readTicks = (): CpuTicks => parseTicks(readFileSync('/proc/stat', 'utf8'), readFileSync('/proc/self/stat', 'utf8'));

export function parseTicks(stat: string, selfStat: string): CpuTicks {
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = (stat.split('\n')[0] ?? '')
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const busy = user + nice + system + irq + softirq;
  // The second field is the program's name in brackets and may hold spaces: count from the last bracket on.
  const fields = selfStat
    .slice(selfStat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const ours = fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0); // utime, stime, cutime, cstime
  return { total: busy + idle + iowait + steal, busy, steal, ours };
}

/** `undefined` when the span is too short to say. */
export function sharesBetween(before: CpuTicks, after: CpuTicks, cores: number): UsageShares | undefined {
  const total = after.total - before.total;
  if (total < 50 * cores) return undefined;
  const others = after.busy - before.busy - (after.ours - before.ours);
  return { others: Math.max(0, others / total), steal: (after.steal - before.steal) / total };
}
