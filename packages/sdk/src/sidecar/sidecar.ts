// The public handle of a sidecar. What it does is in the connection behind it.

import { asyncDispose } from '../async-dispose.js';
import type { SidecarResourceSnapshot } from '../channel/messages.js';
import type { Opening, SidecarConnection } from '../channel/sidecar-connection.js';
import { acceptable, explain } from '../options/check.js';
import { DEFAULT_TENANT } from '../options/snapshots.js';
import type { SidecarEmbeddedOptions, SidecarSpawnOptions } from '../options/types.js';
import { reportModuleLoad, reportOpening } from '../runtime/boot-timing.js';
import { SnapshotStore } from '../snapshots/store.js';
import { register } from './connections.js';
import { Household } from './household.js';
import { openEmbedded, openProcess } from './open.js';

/**
 * A process, or a part of this one, in which runtimes live. Hand it to `NodeRuntime.create({ sidecar })` as often as you like.
 *
 * @example
 * await using sidecar = await Sidecar.spawn();
 * const runtime = await NodeRuntime.create({ sidecar });
 */
export class Sidecar implements AsyncDisposable {
  readonly #connection: SidecarConnection;
  /** The snapshots that it keeps: in its memory, and in its folder. */
  readonly snapshots: SnapshotStore;

  private constructor(opening: Opening) {
    this.#connection = opening.connection;
    this.snapshots = new SnapshotStore(new Household(opening.connection), DEFAULT_TENANT);
    register(this, opening);
  }

  /**
   * Starts a sidecar process; resolves when it is ready for runtimes. It ends with `dispose()`, or with this process.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_SIDECAR_SPAWN`, `ERR_SIDECAR_EXITED`, `ERR_VERSION_MISMATCH`
   */
  static async spawn(options?: SidecarSpawnOptions): Promise<Sidecar> {
    if (!acceptable('Sidecar.spawn()', options)) await explain('Sidecar.spawn()', options);
    return Sidecar.#open(openProcess(options), options?.onBootTiming);
  }

  /**
   * Opens a sidecar inside this process, on threads of its own. The WebAssembly sandbox is then the only wall between guest and
   * app: for code you half trust, or behind another boundary.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_SIDECAR_SPAWN`, `ERR_IMAGE`
   */
  static async embedded(options?: SidecarEmbeddedOptions): Promise<Sidecar> {
    if (!acceptable('Sidecar.embedded()', options)) await explain('Sidecar.embedded()', options);
    return Sidecar.#open(openEmbedded(options), options?.onBootTiming);
  }

  static async #open(opening: Opening, onBootTiming: SidecarSpawnOptions['onBootTiming']): Promise<Sidecar> {
    try {
      const opened = await opening.opened;
      if (onBootTiming !== undefined) {
        reportOpening(onBootTiming, opened);
        reportModuleLoad(onBootTiming, opened);
      }
      return new Sidecar(opening);
    } catch (error) {
      await opening.connection.dispose();
      throw error;
    }
  }

  /** The process that its guests run in; this process, when it is embedded. */
  get pid(): number {
    return this.#connection.pid;
  }

  /**
   * Resolves when the sidecar has answered: it is alive, and not waiting for any guest.
   *
   * @throws `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  ping(): Promise<void> {
    return this.#connection.ping();
  }

  /**
   * What the sidecar has in use, over all its runtimes.
   *
   * @throws `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  getResourceSnapshot(): Promise<SidecarResourceSnapshot> {
    return this.#connection.resources();
  }

  /**
   * Ends the sidecar, all its runtimes and what runs in them; what waits for them rejects with `ERR_SIDECAR_DISPOSED`. Resolves when
   * it is gone. May be called more than once.
   */
  dispose(): Promise<void> {
    return this.#connection.dispose();
  }

  /** `dispose()`, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.dispose();
  }
}
