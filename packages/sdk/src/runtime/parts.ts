// The parts of a runtime's handle. Each part has the state and the calls of one area: files,
// network, programs, runners, permissions, bindings, snapshots, pauses. This module connects the
// parts and stores the disposal of the runtime. Next: `provision.ts`, the runtime in its sidecar.

import { RuntimeBindings } from '../bindings/runtime-bindings.js';
import { runtimeDisposed, runtimePaused } from '../errors/make.js';
import { DEFAULT_CWD } from '../files/initial-files.js';
import { RuntimeFiles } from '../files/runtime-files.js';
import { RuntimeNetwork } from '../network/runtime-network.js';
import type { ExecFilesOptions } from '../options/programs.js';
import type { CloneOptions, SingleCloneOptions } from '../options/snapshots.js';
import { OutsideNetwork } from '../outside/runtime-outside.js';
import { policyOf } from '../permissions/policy.js';
import { RuntimePermissions } from '../permissions/runtime-permissions.js';
import type { ExecResult } from '../programs/result.js';
import { RuntimePrograms } from '../programs/runtime-programs.js';
import { Runners } from '../runner/runners.js';
import { RuntimeSecrets } from '../secrets/runtime-secrets.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';
import { type Wall, wallsOf } from '../sidecar/walls.js';
import { disposeRuntime } from './dispose.js';
import { execFiles, type ProgramFiles } from './exec-files.js';
import type { NodeRuntimeOptions } from './options.js';
import { RuntimePause } from './pause.js';
import type { ProvisionedRuntime } from './provision.js';
import { type ResourceSnapshot, resourcesOf } from './resources.js';
import { RuntimeSnapshots } from './snapshots.js';

/**
 * The state of a runtime. `paused` lasts from the call of `pause()` until `resume()` has resolved.
 * `frozen` is a pause in memory, without a snapshot.
 */
export type RuntimeState = 'running' | 'paused' | 'frozen' | 'disposed';

/** The options that remain in effect after the creation, also for clones. */
export type LastingOptions = Pick<
  NodeRuntimeOptions,
  'cwd' | 'permissions' | 'network' | 'secrets' | 'limits' | 'onBootTiming' | 'onLimitWarning'
>;

/** The parts of one runtime's handle. */
export class RuntimeParts {
  readonly files: RuntimeFiles;
  readonly programs: RuntimePrograms;
  readonly runners: Runners;
  readonly permissions: RuntimePermissions;
  readonly outside: OutsideNetwork;
  readonly secrets: RuntimeSecrets;
  readonly bindings: RuntimeBindings;
  readonly snapshots: RuntimeSnapshots;
  readonly pause: RuntimePause;
  readonly #provisioned: ProvisionedRuntime;
  readonly #access: RuntimeAccess;
  readonly #options: LastingOptions;
  #usedNetwork: RuntimeNetwork | undefined;
  #disposal: Promise<void> | undefined;

  constructor(provisioned: ProvisionedRuntime, options: LastingOptions) {
    const { connection, runtime, restored, policy } = provisioned;
    const { onBootTiming, onLimitWarning, limits } = options;
    const { cwd = restored?.cwd ?? DEFAULT_CWD, permissions = restored && policyOf(restored.permissions) } = options;
    const access: RuntimeAccess = {
      connection,
      runtime,
      assertUsable: () => {
        if (this.#disposal !== undefined) throw runtimeDisposed(runtime);
        if (this.pause.isPausedByApp) throw runtimePaused(runtime);
      },
      whileInUse: async (work) => (policy === undefined ? work() : policy.during(work)),
    };
    this.#provisioned = provisioned;
    this.#access = access;
    this.#options = { cwd, permissions, limits: limits && { ...limits }, onBootTiming, onLimitWarning };
    this.files = new RuntimeFiles(access, cwd);
    this.programs = new RuntimePrograms(access, onBootTiming);
    const { pids } = this.programs;
    const runners = new Runners(access, pids, onBootTiming);
    const bindings = new RuntimeBindings(access, provisioned.bindings);
    this.runners = runners;
    this.bindings = bindings;
    this.outside = new OutsideNetwork(access, options.network, provisioned.lease.connection);
    this.secrets = new RuntimeSecrets(access, provisioned.lease.connection, options.secrets, restored?.secrets);
    this.permissions = new RuntimePermissions(access, permissions, this.outside);
    this.snapshots = new RuntimeSnapshots({
      access,
      provisioned,
      pids,
      runners,
      network: () => this.network,
      isFrozen: () => this.pause.isFrozen,
      cloneSource: () => ({
        provisioned,
        bindings: bindings.all,
        network: this.outside.options,
        secrets: this.secrets,
        onLimitWarning,
      }),
    });
    this.pause = new RuntimePause({
      access,
      provisioned,
      runners,
      bindings,
      outside: this.outside,
      secrets: this.secrets,
      warn: onLimitWarning === undefined ? undefined : true,
      network: () => this.#usedNetwork,
      isDisposed: () => this.#disposal !== undefined,
      dispose: () => this.dispose(),
    });
    if (restored !== undefined) runners.adopt(restored.programs);
    policy?.start(this.pause.pausable);
  }

  /** The network, which is made at its first use. */
  get network(): RuntimeNetwork {
    this.#usedNetwork ??= new RuntimeNetwork(this.#access, this.programs.ends, this.#options.limits?.fetchResponseBytes);
    return this.#usedNetwork;
  }

  get state(): RuntimeState {
    if (this.#disposal !== undefined) return 'disposed';
    if (this.pause.isFrozen) return 'frozen';
    return this.pause.isPaused ? 'paused' : 'running';
  }

  /** The parts of the wall around the sidecar's process. */
  get walls(): readonly Wall[] {
    return wallsOf(this.#access.connection);
  }

  execFiles(files: ProgramFiles, options: ExecFilesOptions | undefined): Promise<ExecResult> {
    return execFiles(this.#access, (path, run) => this.programs.execFile(path, run), files, options);
  }

  async resources(): Promise<ResourceSnapshot> {
    this.#access.assertUsable();
    return resourcesOf(this.#access);
  }

  /** Clones the runtime `n` times, or once. `handleOf` makes the handle of each clone. */
  clone<R>(
    n: number | SingleCloneOptions | undefined,
    options: CloneOptions,
    handleOf: (parts: RuntimeParts) => R,
  ): Promise<R | R[] | PromiseSettledResult<R>[]> {
    return this.snapshots.clone(n, options, (provisioned, network, secrets) => {
      const present = { ...this.#options, permissions: this.permissions.given, network, secrets };
      return handleOf(new RuntimeParts(provisioned, present));
    });
  }

  /**
   * Ends the runtime. Also ends an owned sidecar if no other runtime uses the sidecar. Further
   * calls do nothing.
   */
  dispose(): Promise<void> {
    this.secrets.end();
    this.outside.end();
    this.#disposal ??= disposeRuntime(this.#provisioned, this.#usedNetwork);
    return this.#disposal;
  }
}
