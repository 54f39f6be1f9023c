// Pauses and resumes one runtime.
//
// The app's own pause and the idle policy's pause are different states. After `pause()`, calls fail
// until `resume()`. After a pause by the policy, the next call resumes the runtime. A `pause()` of
// the app overrides the policy.
//
// `pause()` may freeze a busy runtime in memory. A frozen runtime refuses calls as a paused runtime
// does. Its connections, handles and runners stay unchanged. Next: `snapshots.ts`.

import { wireBindings } from '../bindings/binding-registry.js';
import type { RuntimeBindings } from '../bindings/runtime-bindings.js';
import { invalidOption, runtimePaused } from '../errors/make.js';
import type { PausableRuntime } from '../idle/policy.js';
import type { RuntimeNetwork } from '../network/runtime-network.js';
import { checkOptions } from '../options/check.js';
import type { PauseOptions, QuietOptions, ResumeOptions } from '../options/snapshots.js';
import { wireOutside } from '../outside/policy.js';
import { supplyRoots } from '../outside/roots.js';
import type { OutsideNetwork } from '../outside/runtime-outside.js';
import type { Runners } from '../runner/runners.js';
import type { RuntimeSecrets } from '../secrets/runtime-secrets.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';
import type { Snapshot } from '../sidecar/snapshot.js';
import type { ProvisionedRuntime } from './provision.js';

/** The parts of a runtime that a pause or a resumption uses or changes. */
export interface PausedParts {
  readonly access: RuntimeAccess;
  readonly provisioned: ProvisionedRuntime;
  readonly runners: Runners;
  readonly bindings: RuntimeBindings;
  readonly outside: OutsideNetwork;
  readonly secrets: RuntimeSecrets;
  /** Whether limit warnings are sent. */
  readonly warn: true | undefined;
  /** Returns the network, or `undefined` if the network was never used. */
  network(): RuntimeNetwork | undefined;
  isDisposed(): boolean;
  dispose(): Promise<void>;
}

interface PauseRequest extends QuietOptions {
  /** Whether the store may evict the snapshot once the sidecar has ended. */
  temporary?: boolean;
  /** Whether a busy runtime is frozen. */
  freeze?: true | undefined;
}

/** The calls of `NodeRuntime` for pauses. */
export class RuntimePause {
  readonly #parts: PausedParts;
  /** The app's pause, from the call of `pause()` until the runtime is resumed. */
  #paused: Promise<Snapshot | undefined> | undefined;
  #isFrozen = false;
  #resuming: Promise<void> | undefined;

  constructor(parts: PausedParts) {
    this.#parts = parts;
  }

  /** Returns whether the app has paused the runtime, so that calls fail. */
  get isPausedByApp(): boolean {
    return this.#paused !== undefined;
  }

  /** Returns whether the app or the policy has paused the runtime. */
  get isPaused(): boolean {
    return this.isPausedByApp || this.#parts.provisioned.policy?.isPaused === true;
  }

  /** Returns whether the app's pause has frozen the runtime in memory. */
  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  async pause(options: PauseOptions): Promise<Snapshot | undefined> {
    checkOptions('pause()', options);
    const freeze = options.whenBusy === 'freeze' ? true : undefined;
    return this.#pauseForApp({ timeoutMs: options.timeoutMs, freeze });
  }

  /**
   * Pauses as `pause()` does, with a snapshot that the store may evict once the sidecar has ended.
   */
  pauseTemporarily(): Promise<Snapshot> {
    return this.#pauseForApp({ temporary: true }) as Promise<Snapshot>;
  }

  async resume(options: ResumeOptions = {}): Promise<void> {
    checkOptions('resume()', options);
    if (this.#parts.isDisposed()) this.#parts.access.assertUsable();
    const changed = options.network === undefined ? 'secrets' : 'network';
    if (this.#isFrozen && options[changed] !== undefined) throw frozen(changed);
    if (this.isPaused) {
      const network = options.network ?? (options.secrets && (this.#parts.outside.options ?? {}));
      if (network !== undefined) this.#parts.outside.replace(network);
      if (options.secrets !== undefined) this.#parts.secrets.replace(options.secrets);
    }
    if (this.#paused === undefined) return this.#parts.provisioned.policy?.ready();
    if (this.#resuming === undefined) {
      const resuming = this.#resumeFromApp(this.#paused).finally(() => {
        if (this.#resuming === resuming) this.#resuming = undefined;
      });
      this.#resuming = resuming;
    }
    await this.#resuming;
  }

  /** The idle policy's interface to the runtime. */
  get pausable(): PausableRuntime<Snapshot> {
    const { provisioned, dispose, isDisposed } = this.#parts;
    return {
      pause: () => this.#takePause({ temporary: true }) as Promise<Snapshot>,
      resume: () => this.#restore(),
      dispose,
      isOver: () => isDisposed() || provisioned.lease.connection.isOver(),
    };
  }

  // From this call on the pause is the app's, even if the policy has paused the runtime already. A
  // `pause()` during a `resume()` pauses the runtime again. If the resumption fails, the runtime
  // stays paused.
  async #pauseForApp(request: PauseRequest): Promise<Snapshot | undefined> {
    const [before, resuming] = [this.#paused, this.#resuming];
    let paused: Promise<Snapshot | undefined>;
    if (before === undefined || this.#parts.isDisposed()) {
      this.#parts.access.assertUsable();
      paused = this.#takeOver(request);
    } else if (resuming === undefined) {
      if (!this.#isFrozen) return before;
      // The programs of a frozen runtime have a further chance to quiesce. After a failure the
      // runtime stays frozen.
      paused = this.#takePause(request);
    } else {
      this.#resuming = undefined;
      paused = resuming.then(
        () => this.#takeOver(request),
        () => before,
      );
    }
    this.#paused = paused;
    try {
      return await paused;
    } catch (error) {
      if (this.#isFrozen && this.#paused === paused) this.#paused = before;
      else this.#end(paused);
      throw error;
    }
  }

  // Stops the policy and pauses. A runtime that the policy has paused stays paused, in a snapshot
  // that the store keeps.
  async #takeOver(request: PauseRequest): Promise<Snapshot | undefined> {
    const { provisioned, isDisposed } = this.#parts;
    const { policy } = provisioned;
    const stopping = policy?.stop();
    // If the policy has not paused the runtime, the request is sent in this turn. The sidecar then
    // handles later calls after the pause.
    if (stopping === undefined) return this.#takePause(request);
    const snapshot = await stopping;
    try {
      return await this.#takePause(request);
    } catch (error) {
      policy?.takeBack(snapshot);
      if (isDisposed()) await policy?.end();
      throw error;
    }
  }

  // Ends the app's pause, unless a later pause has replaced it.
  #end(paused: Promise<Snapshot | undefined>): void {
    if (this.#paused !== paused) return;
    this.#paused = undefined;
    this.#parts.provisioned.policy?.start();
  }

  // Returns `undefined` if the runtime is frozen.
  async #takePause({ timeoutMs, temporary, freeze }: PauseRequest): Promise<Snapshot | undefined> {
    const { lease, connection, runtime } = this.#parts.provisioned;
    const { snapshot: wire } = await connection.request('runtime.pause', { runtime, timeoutMs, temporary, freeze });
    this.#isFrozen = wire === undefined;
    if (wire === undefined) return undefined;
    connection.dropCalls(runtime);
    this.#parts.outside.abortRequests();
    const { Snapshot } = await import('../sidecar/snapshot.js');
    return new Snapshot(lease, wire);
  }

  async #resumeFromApp(paused: Promise<Snapshot | undefined>): Promise<void> {
    const { connection, runtime } = this.#parts.provisioned;
    // A failed pause has changed nothing, so nothing is resumed.
    if ((await paused.catch(() => undefined)) !== undefined) {
      this.#parts.network()?.startEra(runtimePaused(this.#parts.access.runtime));
      await this.#restore();
    } else if (this.#isFrozen) {
      await connection.request('runtime.resume', { runtime });
      this.#isFrozen = false;
    }
    this.#end(paused);
  }

  async #restore(): Promise<void> {
    const { provisioned, runners, bindings, warn } = this.#parts;
    const { lease, runtime, mounts } = provisioned;
    const wire = bindings.all && wireBindings(bindings.all);
    const { options } = this.#parts.outside;
    const outside = options && wireOutside(options, this.#parts.secrets.declarations);
    const supplied = outside && supplyRoots(lease.connection);
    await runners.renew(lease.connection.request('runtime.resume', { runtime, warn, mounts, bindings: wire, outside }));
    await supplied;
  }
}

// Makes the error for an option of `resume()` that a frozen runtime does not accept.
function frozen(option: 'network' | 'secrets') {
  const expected = `no value, because the runtime is frozen in memory: change \`runtime.${option}\` after the call`;
  return invalidOption('resume()', { option, expected, received: 'a value' });
}
