// The list of a runtime's processes, as the caller sees it.

import { noProcess } from '../errors/make.js';
import { acceptable, explain } from '../options/check.js';
import type { AttachOptions } from '../options/snapshots.js';
import { GuestProcess, type Home } from './guest-process.js';

/** One process of a runtime: a program that was started from here, a runner, or a child of one. */
export interface ProcessEntry {
  /** Its number in the runtime. */
  readonly pid: number;
  /** Its parent's; 1 when it was started from here, or its parent has ended. */
  readonly ppid: number;
  /** Its process group. */
  readonly group: number;
  /** What it was started as: the command with its arguments. */
  readonly command: string;
  /**
   * A handle on a program that came with a snapshot and that nobody else hears: what it wrote so far comes first. A child belongs to its parent, a runner has
   * a handle of its own, and so has what was started from here. An entry from before a rollback is of a process that is gone: ask for a new list.
   *
   * @throws `EPERM` (a child, a runner), `EBUSY` (somebody has a handle), `ESRCH`; what `exec()` throws about options, runtime and sidecar
   */
  attach(options?: AttachOptions): Promise<GuestProcess>;
}

/** The processes that live in a runtime. */
export async function listProcesses(home: Home): Promise<ProcessEntry[]> {
  const { connection, runtime, numbers } = home;
  // As it was when the list was asked for: a rollback on its way back here may be behind it.
  const { generation } = numbers;
  const { pids, ppids, groups, commands } = await connection.listProcesses({ runtime });
  return pids.map((pid, at) => ({
    pid,
    ppid: ppids[at] as number,
    group: groups[at] as number,
    command: commands[at] as string,
    attach: async (options = {}) => {
      if (!acceptable('attach()', options)) await explain('attach()', options);
      if (numbers.generation !== generation) throw noProcess(pid);
      return GuestProcess.attach(home, pid, options);
    },
  }));
}
