// A runtime's policy as it is in force, and who listens to decisions. The sidecar is asked to tell of them while somebody does, and keeps
// a bounded number for us; each message is answered only when every listener has had it.

import { callListener } from '../call-listener.js';
import type { PermissionsEvents } from '../channel/permission-messages.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { invalidOption } from '../errors/make.js';
import { acceptable, explain } from '../options/check.js';
import type { PermissionEvent, PermissionsPolicy } from '../options/permission-types.js';
import { inForce, wirePolicy } from '../options/permissions.js';
import { show } from '../options/show.js';

/** Takes a decision. What it throws is an uncaught exception. */
export type PermissionListener = (event: PermissionEvent) => void;

/** Takes how many decisions were lost since the last one that was told, because more were made than could be told. */
export type LostListener = (count: number) => void;

interface Ear {
  listener: PermissionListener;
  onLost: LostListener | undefined;
}

/** See the module. */
export class RuntimePermissions {
  readonly #connection: SidecarConnection;
  readonly #runtime: number;
  readonly #ears = new Set<Ear>();
  // Requests to the sidecar one after the other, so that the last one counts.
  #watching: Promise<void> = Promise.resolve();
  #policy: Readonly<Required<PermissionsPolicy>> | undefined;
  #given: PermissionsPolicy | undefined;

  constructor(connection: SidecarConnection, runtime: number, given: PermissionsPolicy | undefined) {
    this.#connection = connection;
    this.#runtime = runtime;
    // Copied now, because the caller may change what it has given; made whole when somebody asks.
    this.#given = given === undefined ? undefined : structuredClone(given);
  }

  get policy(): Readonly<Required<PermissionsPolicy>> {
    this.#policy ??= inForce(this.#given);
    return this.#policy;
  }

  async set(policy: PermissionsPolicy): Promise<void> {
    if (policy === undefined || !acceptable('setPermissions()', policy)) await explain('setPermissions()', policy);
    const next = inForce(policy);
    await this.#connection.setPermissions({ runtime: this.#runtime, permissions: wirePolicy(policy) });
    this.#policy = next;
  }

  async listen(listener: PermissionListener, onLost: LostListener | undefined): Promise<() => Promise<void>> {
    for (const [option, value] of [
      ['listener', listener],
      ['onLost', onLost ?? listener],
    ] as const) {
      if (typeof value === 'function') continue;
      throw invalidOption('onPermission()', { option, expected: 'a function', received: show(value) });
    }
    const ear = { listener, onLost };
    this.#ears.add(ear);
    try {
      await this.#watch();
    } catch (error) {
      this.#ears.delete(ear);
      throw error;
    }
    return async () => {
      if (this.#ears.delete(ear)) await this.#watch();
    };
  }

  // Brings the sidecar to what is wanted by the time it is asked.
  #watch(): Promise<void> {
    const work = async (): Promise<void> => {
      const wanted = this.#ears.size > 0;
      if (wanted === this.#watched) return;
      await this.#connection.watchPermissions(this.#runtime, wanted ? this.#tell : undefined);
      this.#watched = wanted;
    };
    const done = this.#watching.then(work);
    this.#watching = done.catch(() => {});
    return done;
  }

  #watched = false;

  readonly #tell = ({ events, lost }: Pick<PermissionsEvents, 'events' | 'lost'>): void => {
    for (const { timeUs, ...rest } of events) {
      const event: PermissionEvent = { ...rest, time: timeUs / 1_000 };
      for (const { listener } of this.#ears) callListener(() => listener(event));
    }
    if (lost > 0) for (const { onLost } of this.#ears) callListener(() => onLost?.(lost));
  };
}
