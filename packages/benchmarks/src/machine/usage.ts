// Measures which processes used the processors during a span of time.
//
// `/proc/stat` counts the time of all processors in ticks. The share of this process includes the
// children that the process has waited for (`/proc/self/stat`). The remaining busy time belongs to
// other processes, and `steal` is time that the hypervisor gave to another machine. A tick is 10
// ms, so for a span shorter than half a second no shares are computed.

import { readFileSync } from 'node:fs';

export interface CpuTicks {
  total: number;
  busy: number;
  steal: number;
  ours: number;
}

export interface UsageShares {
  /** The share of all processor time that other processes used. */
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
  // The second field is the program's name in brackets, which can contain spaces. So fields are
  // counted from the last bracket.
  const fields = selfStat
    .slice(selfStat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const ours = fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0); // utime, stime, cutime, cstime
  return { total: busy + idle + iowait + steal, busy, steal, ours };
}

/** Returns the shares, or `undefined` for a span that is too short. */
export function sharesBetween(before: CpuTicks, after: CpuTicks, cores: number): UsageShares | undefined {
  const total = after.total - before.total;
  if (total < 50 * cores) return undefined;
  const others = after.busy - before.busy - (after.ours - before.ours);
  return { others: Math.max(0, others / total), steal: (after.steal - before.steal) / total };
}

/**
 * Waits for `work`. Returns its result, and the shares during the work if the span was long enough.
 */
export async function withUsage<T>(
  cores: number,
  work: () => Promise<T>,
): Promise<{ result: T; usage: { machine?: UsageShares } }> {
  const before = readTicks();
  const result = await work();
  const machine = sharesBetween(before, readTicks(), cores);
  return { result, usage: machine ? { machine } : {} };
}
