// The list of a runtime's processes, as the caller sees it.

import type { ProcessTable } from '../channel/messages.js';

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
}

export function entriesOf({ pids, ppids, groups, commands }: ProcessTable): ProcessEntry[] {
  return pids.map((pid, at) => ({
    pid,
    ppid: ppids[at] as number,
    group: groups[at] as number,
    command: commands[at] as string,
  }));
}
