// Reads the process table from `/proc`. Next: processes.js, which prints the table.

import fs from 'node:fs';
import { names } from '../accounts.js';

const TICKS_PER_SECOND = 100;
const PAGE_KIB = 4;

const text = (path) => fs.readFileSync(path, 'latin1');

function entry(pid, uptime, users) {
  try {
    const stat = text(`/proc/${pid}/stat`);
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    // The first field after the name is the third field of the line.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const number = (field) => Number(fields[field - 3]);
    const args = Buffer.from(text(`/proc/${pid}/cmdline`), 'latin1')
      .toString('utf8')
      .split('\0')
      .slice(0, -1);
    const { uid } = fs.statSync(`/proc/${pid}`);
    const cpuSeconds = (number(14) + number(15)) / TICKS_PER_SECOND;
    const elapsed = Math.max(0, uptime - number(22) / TICKS_PER_SECOND);
    return {
      pid,
      uid,
      user: users(uid),
      name,
      args: args.length > 0 ? args.join(' ') : `[${name}]`,
      program: args[0] ?? name,
      state: fields[0],
      ppid: number(4),
      pgid: number(5),
      sid: number(6),
      nice: number(19),
      threads: number(20),
      vsz: Math.round(number(23) / 1024),
      rss: number(24) * PAGE_KIB,
      cpuSeconds,
      elapsed,
      cpu: elapsed > 0 ? (100 * cpuSeconds) / elapsed : 0,
    };
  } catch (error) {
    // The process ended after its name was listed.
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return undefined;
    throw error;
  }
}

/** Returns all processes of the runtime in order of their pids. */
export function processTable() {
  const uptime = Number(text('/proc/uptime').split(' ')[0]);
  const { user: users } = names();
  const pids = fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return pids
    .sort((a, b) => a - b)
    .map((pid) => entry(pid, uptime, users))
    .filter(Boolean);
}

/** Returns the memory of the machine in KiB. */
export const totalMemory = () => Number(/^MemTotal:\s+(\d+)/m.exec(text('/proc/meminfo'))?.[1] ?? 0);
