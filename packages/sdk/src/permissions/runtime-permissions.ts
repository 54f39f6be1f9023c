// The permissions of one runtime: the policy in force, and the listeners for decisions. All
// listeners receive each decision. Next: `sidecar/recorded-events.ts`.

import { callListener } from '../call-listener.js';
import { frozenCopy } from '../frozen-copy.js';
import { checkArgument, checkGivenOptions } from '../options/check.js';
import type { CompletePolicy, PermissionEvent, PermissionScope, PermissionsPolicy } from '../options/permissions.js';
import { CALLBACK } from '../options/rule.js';
import type { PermissionsTaken } from '../protocol/generated/messages.js';
import { RecordedEvents } from '../sidecar/recorded-events.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';
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
  readonly #events: RecordedEvents<Subscriber, PermissionsTaken>;
  readonly #outside: OutsideSetting;
  #given: PermissionsPolicy | undefined;
  /** The policy in force, and whether the runtime had the option `network` when it was computed. */
  #inForce: { policy: CompletePolicy; hasOutside: boolean } | undefined;

  constructor(access: RuntimeAccess, initial: PermissionsPolicy | undefined, outside: OutsideSetting) {
    this.#access = access;
    this.#outside = outside;
    const { connection, runtime } = access;
    this.#events = new RecordedEvents({
      watch: (deliver) => connection.watchPermissions(runtime, deliver),
      take: (deliver) => connection.takeDecisions(runtime, deliver),
      pass: passDecisions,
    });
    // The policy is copied, because the caller may change its object later. The copy is merged over
    // the default when the policy is read.
    this.#given = initial && frozenCopy(initial);
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
    const next = frozenCopy(policy);
    const { connection, runtime } = this.#access;
    await connection.request('permissions.set', { runtime, permissions: wirePolicy(policy) });
    this.#given = next;
    this.#inForce = undefined;
  }

  async listen(listener: PermissionListener, onLost: LostListener | undefined): Promise<() => Promise<void>> {
    this.#access.assertUsable();
    checkArgument('onPermission()', 'listener', CALLBACK, listener);
    if (onLost !== undefined && onLost !== null) checkArgument('onPermission()', 'onLost', CALLBACK, onLost);
    return this.#events.add({ listener, onLost });
  }
}

function passDecisions({ events, lost }: PermissionsTaken, subscribers: Iterable<Subscriber>): void {
  for (const { timeUs, scope, ...rest } of events) {
    // A sidecar of this version sends no other scopes.
    const event = { scope: scope as PermissionScope, ...rest, time: timeUs / 1_000 } as PermissionEvent;
    for (const { listener } of subscribers) callListener(() => listener(event));
  }
  if (lost > 0) for (const { onLost } of subscribers) callListener(() => onLost?.(lost));
}
