// The resident runners of a runtime: runners that the app created, and runners of a snapshot.

import type { BootTimingListener } from '../options/boot-timing.js';
import { checkOptions } from '../options/check.js';
import { idsOf } from '../options/owner.js';
import type { ResidentRunnerOptions } from '../options/programs.js';
import type { PidRegistry } from '../programs/pid-registry.js';
import { assertWorkingDirectory } from '../programs/working-directory.js';
import type { Pid, RestoredProgram, RestoredPrograms, RunnerId } from '../protocol/generated/messages.js';
import { reportGuestStart } from '../sidecar/boot-timing.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';
import { ResidentRunner } from './resident-runner.js';

/** The number of handles at which handles of ended runners are first removed. */
const FIRST_SWEEP = 8;

/** The handles of one runtime's runners, by their ids. */
export class Runners {
  readonly #access: RuntimeAccess;
  readonly #pids: PidRegistry;
  readonly #onBootTiming: BootTimingListener | undefined;
  readonly #handles = new Map<RunnerId, ResidentRunner>();

  constructor(access: RuntimeAccess, pids: PidRegistry, onBootTiming: BootTimingListener | undefined) {
    this.#access = access;
    this.#pids = pids;
    this.#onBootTiming = onBootTiming;
  }

  /** Starts a runner. */
  async create(options: ResidentRunnerOptions | undefined): Promise<ResidentRunner> {
    checkOptions('createResidentRunner()', options);
    this.#access.assertUsable();
    const { connection, runtime } = this.#access;
    if (options?.cwd !== undefined) await assertWorkingDirectory(this.#access, 'createResidentRunner()', options.cwd);
    const { runner, pid, timings } = await connection.request('runner.create', {
      runtime,
      env: options?.env,
      cwd: options?.cwd,
      limits: options?.limits,
      user: idsOf(options?.user),
      language: options?.language,
    });
    if (this.#onBootTiming !== undefined) reportGuestStart(this.#onBootTiming, timings);
    // Handles of ended runners are removed at each power of two, which is constant work for each
    // runner on average.
    const { size } = this.#handles;
    if (size >= FIRST_SWEEP && (size & (size - 1)) === 0) this.#keep((handle) => !handle.isOver);
    this.#pids.assign(pid);
    return this.#handle(runner, pid);
  }

  /** Returns the handles of all live runners, in the order of their ids. */
  async list(): Promise<ResidentRunner[]> {
    this.#access.assertUsable();
    const { connection, runtime } = this.#access;
    const live = new Set<number>((await connection.request('process.list', { runtime })).pids);
    this.#keep((handle) => !handle.isOver && live.has(handle.pid));
    return [...this.#handles].sort(([one], [other]) => one - other).map(([, handle]) => handle);
  }

  /** Makes handles for the runners among the programs of a snapshot. */
  adopt(programs: readonly RestoredProgram[]): void {
    for (const { runner, pid } of programs) if (runner !== undefined) this.#handle(runner, pid);
  }

  /**
   * Waits for `restoring`, a rollback or a resumption. Removes the handles of runners that were not
   * restored, except runners that were created while `restoring` was pending.
   */
  async renew(restoring: Promise<RestoredPrograms>): Promise<RestoredProgram[]> {
    const before = [...this.#handles.keys()];
    const { programs } = await restoring;
    const restored = new Set(programs.map(({ runner }) => runner));
    for (const id of before) if (!restored.has(id)) this.#handles.delete(id);
    this.adopt(programs);
    return programs;
  }

  // Returns the handle of a runner. A runner that is restored after its handle was disposed gets a
  // new handle.
  #handle(id: RunnerId, pid: Pid): ResidentRunner {
    let handle = this.#handles.get(id);
    if (handle === undefined || handle.isOver) {
      handle = new ResidentRunner(this.#access, id, pid, this.#onBootTiming);
      this.#handles.set(id, handle);
    }
    return handle;
  }

  #keep(stays: (handle: ResidentRunner) => boolean): void {
    for (const [id, handle] of this.#handles) if (!stays(handle)) this.#handles.delete(id);
  }
}
