// The permissions of one runtime: the policy in force, and the listeners for decisions.
//
// The sidecar records decisions only while a listener exists, and holds a bounded number for this
// process. All listeners receive each decision. The end of a listener first takes the decisions
// that the sidecar holds.

import { callListener } from '../call-listener.js';
import type { DecisionListener } from '../channel/sidecar-connection.js';
import { isColdframeError } from '../errors/error.js';
import { checkArgument, checkGivenOptions } from '../options/check.js';
import type { CompletePolicy, PermissionEvent, PermissionScope, PermissionsPolicy } from '../options/permissions.js';
import { CALLBACK } from '../options/rule.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';
import { unlessEnded } from '../sidecar/unless-ended.js';
import { policyInForce, wirePolicy } from './policy.js';

/** Receives a decision. An error that the listener throws becomes an uncaught exception. */
export type PermissionListener = (event: PermissionEvent) => void;

/** Receives the number of decisions that were lost since the last delivered decision. */
export type LostListener = (count: number) => void;

interface Subscriber {
  listener: PermissionListener;
  onLost: LostListener | undefined;
}

/** The option `network` of the runtime. */
interface OutsideSetting {
  readonly options: object | undefined;
}

/** The calls of `NodeRuntime` for permissions. */
export class RuntimePermissions {
  readonly #access: RuntimeAccess;
  readonly #subscribers = new Set<Subscriber>();
  /**
   * The end of the last request. The next request is sent after that end, so that the last request
   * takes effect last.
   */
  #lastRequest: Promise<void> = Promise.resolve();
  #isWatched = false;
  readonly #outside: OutsideSetting;
  #given: PermissionsPolicy | undefined;
  /** The policy in force, and whether the runtime had the option `network` when it was computed. */
  #inForce: { policy: CompletePolicy; hasOutside: boolean } | undefined;

  constructor(access: RuntimeAccess, initial: PermissionsPolicy | undefined, outside: OutsideSetting) {
    this.#access = access;
    this.#outside = outside;
    // The policy is copied, because the caller may change its object later. The copy is merged over
    // the default when the policy is read.
    this.#given = initial === undefined ? undefined : structuredClone(initial);
  }

  /** The policy as the app has given it, without defaults. */
  get given(): PermissionsPolicy | undefined {
    return this.#given;
  }

  /** The policy in force. */
  get policy(): CompletePolicy {
    const hasOutside = this.#outside.options !== undefined;
    if (this.#inForce?.hasOutside !== hasOutside) {
      this.#inForce = { policy: policyInForce(this.#given, hasOutside), hasOutside };
    }
    return this.#inForce.policy;
  }

  async set(policy: PermissionsPolicy): Promise<void> {
    this.#access.assertUsable();
    checkGivenOptions('setPermissions()', policy);
    const next = structuredClone(policy);
    const { connection, runtime } = this.#access;
    await connection.request('permissions.set', { runtime, permissions: wirePolicy(policy) });
    this.#given = next;
    this.#inForce = undefined;
  }

  async listen(listener: PermissionListener, onLost: LostListener | undefined): Promise<() => Promise<void>> {
    this.#access.assertUsable();
    checkArgument('onPermission()', 'listener', CALLBACK, listener);
    if (onLost !== undefined && onLost !== null) checkArgument('onPermission()', 'onLost', CALLBACK, onLost);
    // After the last `stop()` of a paused runtime, the recording has not ended yet.
    if (this.#subscribers.size === 0) await this.#updateWatch();
    const subscriber = { listener, onLost };
    this.#subscribers.add(subscriber);
    try {
      await this.#updateWatch();
    } catch (error) {
      this.#subscribers.delete(subscriber);
      throw error;
    }
    let stopped: Promise<void> | undefined;
    return () => {
      stopped ??= this.#stop(subscriber);
      return stopped;
    };
  }

  // Removes a subscriber after the subscriber has received all decisions that were made so far.
  // Without a runtime there are no decisions to deliver.
  async #stop(subscriber: Subscriber): Promise<void> {
    const { connection, runtime } = this.#access;
    try {
      await unlessEnded(connection.takeDecisions(runtime, this.#deliver));
    } finally {
      this.#subscribers.delete(subscriber);
    }
    await unlessEnded(this.#updateWatch()).catch((error: unknown) => {
      // A paused runtime makes no decisions. `#deliver` ends the watch after the resumption.
      if (!isColdframeError(error, 'ERR_RUNTIME_PAUSED')) throw error;
    });
  }

  // Starts the recording if a subscriber exists when the request is sent, else ends the recording.
  #updateWatch(): Promise<void> {
    const update = async (): Promise<void> => {
      const isWanted = this.#subscribers.size > 0;
      if (isWanted === this.#isWatched) return;
      const { connection, runtime } = this.#access;
      await connection.watchPermissions(runtime, isWanted ? this.#deliver : undefined);
      this.#isWatched = isWanted;
    };
    const updated = this.#lastRequest.then(update);
    this.#lastRequest = updated.catch(() => {});
    return updated;
  }

  readonly #deliver: DecisionListener = ({ events, lost }) => {
    if (this.#subscribers.size === 0) this.#updateWatch().catch(() => {});
    for (const { timeUs, scope, ...rest } of events) {
      // A sidecar of this version sends no other scopes.
      const event = { scope: scope as PermissionScope, ...rest, time: timeUs / 1_000 } as PermissionEvent;
      for (const { listener } of this.#subscribers) callListener(() => listener(event));
    }
    if (lost > 0) for (const { onLost } of this.#subscribers) callListener(() => onLost?.(lost));
  };
}
