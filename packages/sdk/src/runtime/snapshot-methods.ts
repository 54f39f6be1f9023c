// What a runtime's handle offers of its state as a value: snapshots, copies, sleep. A class of its own, because `node-runtime.ts` is long enough: it
// checks what comes in, asks the connection, and shapes what comes back. What is seldom needed is loaded at its first use. Next: `snapshots/`.

import { wireBindings } from '../bindings/registry.js';
import { invalidOption, rolledBack, runtimePaused } from '../errors/make.js';
import type { RuntimeNetwork } from '../network/runtime-network.js';
import { acceptable, explain } from '../options/check.js';
import type { LimitWarningListener } from '../options/limits.js';
import { show } from '../options/show.js';
import { type CloneOptions, isReference, type QuietOptions, SNAPSHOT_WHOLE, type SnapshotOptions } from '../options/snapshots.js';
import type { ResidentRunner } from '../runner/resident-runner.js';
import type { Runners } from '../runner/runners.js';
import { explained } from '../snapshots/known.js';
import type { Snapshot } from '../snapshots/snapshot.js';
import { SnapshotStore } from '../snapshots/store.js';
import type { Provisioned } from './create.js';
import { FileMethods } from './file-methods.js';
import type { Sleeper } from './idle.js';
import type { Numbers } from './numbers.js';

/** What a runtime is doing. */
export type RuntimeState = 'running' | 'paused' | 'disposed';

/** What this class needs of the runtime that it is a part of. */
export interface Whole {
  provisioned: Provisioned;
  numbers: Numbers;
  runners: Runners;
  onLimitWarning: LimitWarningListener | undefined;
  /** What it has of a network, if that was used. */
  network: RuntimeNetwork | undefined;
}

/** As `runtime.pause()`, for somebody to whom what it sleeps on is of no use when its sidecar has ended: it may make room for others then. */
export let pauseForNow: (runtime: SnapshotMethods) => Promise<Snapshot>;

interface Sleep extends QuietOptions {
  temporary?: boolean;
}

/** The calls of a runtime that are about its state as a value. */
export abstract class SnapshotMethods extends FileMethods {
  // What it sleeps on, from the moment on at which it is asked to.
  #asleep: Promise<Snapshot> | undefined;
  #waking: Promise<void> | undefined;
  #store: SnapshotStore | undefined;

  static {
    pauseForNow = (runtime) => runtime.#putToSleep({ temporary: true });
  }

  /** @internal */
  protected abstract whole(): Whole;
  /** @internal Whether `dispose()` has been called. */
  protected abstract isDisposed(): boolean;
  /** @internal Another handle, on a copy. */
  protected abstract another(provisioned: Provisioned): this;

  /** `paused` from the call of `pause()` on until `resume()` has resolved. */
  get state(): RuntimeState {
    if (this.isDisposed()) return 'disposed';
    return this.#asleep === undefined && !this.whole().provisioned.policy?.isAsleep ? 'running' : 'paused';
  }

  /** The snapshots that its sidecar keeps for its tenant. They outlive the runtime. */
  get snapshots(): SnapshotStore {
    const { household, tenant } = this.whole().provisioned;
    this.#store ??= new SnapshotStore(household, tenant);
    return this.#store;
  }

  /**
   * Takes its state as a value: files, processes with their memory, timers, connections among its programs. Programs stop for that moment, each at its next
   * quiet point, and go on.
   *
   * @throws `ERR_NOT_QUIET` (a program did not come to rest in time), `ERR_SNAPSHOT`, `ERR_SNAPSHOT_FILE`, `ERR_RESOURCE_EXHAUSTED`; what `exec()` throws about
   * options, runtime and sidecar
   */
  async snapshot(options: SnapshotOptions = {}): Promise<Snapshot> {
    if (!acceptable('snapshot()', options)) await explain('snapshot()', options);
    this.assertAlive();
    const { household, connection, runtime } = this.whole().provisioned;
    const { name, labels, store, timeoutMs } = options;
    const disk = store === 'disk' ? true : undefined;
    const wire = await connection.snapshots.take({ runtime, name, labels, disk, timeoutMs });
    const { Snapshot } = await import('../snapshots/snapshot.js');
    return new Snapshot(household, wire);
  }

  /**
   * Goes back to a snapshot of its tenant's, its own or another. Programs that are in it go on from there, and so do their handles; those that are not in it
   * end with `ERR_ROLLED_BACK`. Limits, permissions, bindings and mounts stay as they are. When it fails, nothing has changed.
   *
   * @throws `ERR_SNAPSHOT_NOT_FOUND`, `ERR_SNAPSHOT_LACKS`, `ERR_SNAPSHOT_FOREIGN`, `ERR_SNAPSHOT_DAMAGED`, `ERR_RESOURCE_EXHAUSTED`; what `exec()` throws
   * about options, runtime and sidecar
   */
  async rollback(snapshot: Snapshot | string): Promise<void> {
    if (!isReference(snapshot)) {
      const expected = 'a Snapshot, or the id or name of one (1 to 200 characters)';
      throw invalidOption('rollback()', { option: 'snapshot', expected, received: show(snapshot) });
    }
    this.assertAlive();
    const { provisioned, numbers, runners } = this.whole();
    const { connection, runtime, tenant } = provisioned;
    const id = typeof snapshot === 'string' ? snapshot : snapshot.id;
    try {
      const roll = () => connection.snapshots.rollback({ runtime, snapshot: id });
      numbers.rolledBack(await runners.renew(this.network().change(rolledBack(), roll)));
    } catch (error) {
      throw explained(error, snapshot, tenant);
    }
  }

  /**
   * Makes a copy of it: another runtime in the same sidecar that goes on from this moment, with the same limits, permissions, bindings and mounts. With `n` that
   * many, all or none; with `settle` as many as can be made, and of each what became of it. Each is disposed of by itself.
   *
   * @throws as `snapshot()`
   */
  clone(options?: QuietOptions): Promise<this>;
  clone(n: number, options: CloneOptions & { settle: true }): Promise<PromiseSettledResult<this>[]>;
  clone(n: number, options?: CloneOptions): Promise<this[]>;
  async clone(n?: number | QuietOptions, options: CloneOptions = {}): Promise<this | this[] | PromiseSettledResult<this>[]> {
    const one = typeof n !== 'number';
    const given = one ? (n ?? {}) : options;
    const count = one ? 1 : n;
    if (!acceptable('clone()', given)) await explain('clone()', given);
    const { min, max } = SNAPSHOT_WHOLE.copies;
    if (!Number.isInteger(count) || count < min || count > max) {
      const expected = `a whole number of copies from ${min} to ${max}`;
      throw invalidOption('clone()', { option: 'n', expected, received: show(n) });
    }
    this.assertAlive();
    const { copiesOf } = await import('../snapshots/copies.js');
    this.assertAlive();
    const { provisioned, onLimitWarning } = this.whole();
    const settle = !one && (given as CloneOptions).settle === true;
    const wanted = { ...given, settle: settle ? true : undefined };
    const copies = await this.inUse(() => copiesOf(provisioned, count, wanted, onLimitWarning));
    const made = copies.map((copy) => (copy instanceof Error ? copy : this.another(copy)));
    if (settle) {
      return made.map(
        (value): PromiseSettledResult<this> =>
          value instanceof Error ? { status: 'rejected', reason: value } : { status: 'fulfilled', value },
      );
    }
    // The sidecar makes all or none.
    const failed = made.find((copy) => copy instanceof Error);
    if (failed !== undefined) throw failed;
    return one ? (made[0] as this) : (made as this[]);
  }

  /**
   * Puts it to sleep: its state is written to the sidecar's folder, and its memory given back. What waits for its programs goes on waiting; from this call on other
   * calls fail with `ERR_RUNTIME_PAUSED`, through every handle, until `resume()`. What a signal or a runner's `dispose()` ends meanwhile has ended when it wakes up.
   * `NodeRuntime.create({ snapshot })` with the snapshot's id has it go on elsewhere: in another sidecar, after a restart of the machine. When it fails, the runtime
   * goes on as if nothing had been asked. While `resume()` is under way, it has the runtime sleep again.
   *
   * @throws as `snapshot()`
   */
  async pause(options: QuietOptions = {}): Promise<Snapshot> {
    if (!acceptable('pause()', options)) await explain('pause()', options);
    return this.#putToSleep({ timeoutMs: options.timeoutMs });
  }

  async #putToSleep(how: Sleep): Promise<Snapshot> {
    const [before, waking] = [this.#asleep, this.#waking];
    // From here on it is the app's, also when the policy has put it to sleep already; and it sleeps again after what is waking it, or still.
    let asleep: Promise<Snapshot>;
    if (before === undefined || this.isDisposed()) {
      this.assertAlive();
      asleep = this.#fallAsleep(how);
    } else if (waking === undefined) {
      return before;
    } else {
      this.#waking = undefined;
      asleep = waking.then(
        () => this.#fallAsleep(how),
        () => before,
      );
    }
    this.#asleep = asleep;
    try {
      return await asleep;
    } catch (error) {
      this.#goOn(asleep);
      throw error;
    }
  }

  /**
   * Has it go on where `pause()`, or its idle policy, stopped it. Does nothing when it is awake.
   *
   * @throws as `rollback()`
   */
  async resume(): Promise<void> {
    if (this.isDisposed()) this.assertAlive();
    if (this.#asleep === undefined) return this.whole().provisioned.policy?.ready();
    if (this.#waking === undefined) {
      const waking = this.#resume(this.#asleep).finally(() => {
        if (this.#waking === waking) this.#waking = undefined;
      });
      this.#waking = waking;
    }
    await this.#waking;
  }

  /**
   * The resident runners whose processes live: those that were created here, and those that came with a snapshot.
   *
   * @throws `ERR_RUNTIME_DISPOSED`, `ERR_RUNTIME_PAUSED`, `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  async residentRunners(): Promise<ResidentRunner[]> {
    this.assertAlive();
    const { provisioned, runners } = this.whole();
    const { connection, runtime } = provisioned;
    return runners.alive((await connection.listProcesses({ runtime })).pids);
  }

  /** @internal What its policy can do with it. */
  protected sleeper(): Sleeper<Snapshot> {
    return {
      pause: () => this.#pause({ temporary: true }),
      resume: () => this.#wake(),
      dispose: () => this.dispose(),
      isOver: () => this.isDisposed() || this.whole().provisioned.household.connection.isOver(),
    };
  }

  /** @internal Ends it. */
  abstract dispose(): Promise<void>;

  /** @internal Does `work` when it is awake, and keeps it so meanwhile: what is not asked through its own connection. */
  protected async inUse<T>(work: () => T | Promise<T>): Promise<T> {
    const { policy } = this.whole().provisioned;
    if (policy === undefined) return work();
    const done = policy.use();
    try {
      await policy.ready();
      return await work();
    } finally {
      done();
    }
  }

  /** @internal */
  protected assertAwake(runtime: number): void {
    if (this.#asleep !== undefined) throw runtimePaused(runtime);
  }

  // Also when its policy has put it to sleep already: then it goes on sleeping, on what stays from now on.
  async #fallAsleep(how: Sleep): Promise<Snapshot> {
    const { policy } = this.whole().provisioned;
    const stopping = policy?.stop();
    // At once if possible: what is called next comes after it.
    if (stopping === undefined) return this.#pause(how);
    const saved = await stopping;
    try {
      return await this.#pause(how);
    } catch (error) {
      policy?.takeBack(saved);
      if (this.isDisposed()) await policy?.end();
      throw error;
    }
  }

  // It is awake, unless it has been asked to sleep again since.
  #goOn(asleep: Promise<Snapshot>): void {
    if (this.#asleep !== asleep) return;
    this.#asleep = undefined;
    this.whole().provisioned.policy?.begin();
  }

  async #pause({ timeoutMs, temporary }: Sleep): Promise<Snapshot> {
    const { provisioned } = this.whole();
    const { household, connection, runtime } = provisioned;
    const wire = await connection.snapshots.pause({ runtime, timeoutMs, temporary });
    connection.dropCalls(runtime);
    const { Snapshot } = await import('../snapshots/snapshot.js');
    return new Snapshot(household, wire);
  }

  async #resume(asleep: Promise<Snapshot>): Promise<void> {
    // A pause that fails has changed nothing.
    if ((await asleep.catch(() => undefined)) !== undefined) {
      const { provisioned, network } = this.whole();
      network?.renew(runtimePaused(provisioned.runtime));
      await this.#wake();
    }
    this.#goOn(asleep);
  }

  async #wake(): Promise<void> {
    const { provisioned, runners, onLimitWarning } = this.whole();
    const { household, runtime, mounts, bindings } = provisioned;
    const warn = onLimitWarning === undefined ? undefined : true;
    const given = bindings && wireBindings(bindings.all);
    await runners.renew(household.connection.snapshots.resume({ runtime, warn, mounts, bindings: given }));
  }
}
