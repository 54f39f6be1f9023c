// Records which handle refers to each pid of a runtime's programs. A request names a program by its
// pid. A rollback resets the pid counter with the rest of the state, so a pid that was used since
// the snapshot is assigned again. A call through a handle must not reach a later program with the
// same pid.

import type { Pid, RestoredProgram } from '../protocol/generated/messages.js';

/** The state of a handle that refers to a pid. */
export interface PidHolder {
  /** Whether the program has ended, so that the pid is free or belongs to another program. */
  over: boolean;
}

/** The holders of one runtime's pids. */
export class PidRegistry {
  #generation = 0;
  readonly #holders = new Map<Pid, PidHolder>();

  /** The number of rollbacks. A pid from an earlier generation is no longer valid. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Assigns a pid to a new program. The program of the previous holder has ended, even if the
   * program's outcome has not arrived yet. A resident runner passes no holder, because requests
   * name a runner by the runner's id.
   */
  assign(pid: Pid, holder?: PidHolder): void {
    const before = this.#holders.get(pid);
    if (before !== undefined) before.over = true;
    if (holder === undefined || holder.over) this.#holders.delete(pid);
    else this.#holders.set(pid, holder);
  }

  /** Returns the holder of a live program, for a further handle of the program. */
  share(pid: Pid): PidHolder {
    const present = this.#holders.get(pid);
    if (present !== undefined) return present;
    const holder = { over: false };
    this.#holders.set(pid, holder);
    return holder;
  }

  /** Marks the end of a holder's program. */
  end(pid: Pid, holder: PidHolder): void {
    holder.over = true;
    if (this.#holders.get(pid) === holder) this.#holders.delete(pid);
  }

  /**
   * Starts a generation after a rollback. `restored`: programs of the snapshot that no handle
   * refers to.
   */
  rolledBack(restored: readonly RestoredProgram[]): void {
    this.#generation++;
    for (const { pid } of restored) this.assign(pid);
  }
}
