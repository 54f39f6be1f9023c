// The public handle of a sidecar.

import { asyncDispose } from '../async-dispose.js';
import type { Opening, SidecarConnection } from '../channel/sidecar-connection.js';
import { checkOptions } from '../options/check.js';
import type { SidecarEmbeddedOptions, SidecarSpawnOptions } from '../options/sidecar.js';
import { DEFAULT_TENANT } from '../options/snapshots.js';
import type { SidecarResources } from '../protocol/generated/messages.js';
import { reportModuleLoad, reportOpening } from './boot-timing.js';
import { SidecarLease } from './lease.js';
import { installation } from './locate.js';
import { openEmbedded, openProcess } from './open.js';
import { register } from './openings.js';
import { SnapshotStore } from './snapshot-store.js';
import { type Wall, wallsOf } from './walls.js';

/**
 * A process, or a part of this process, that runs the guests of runtimes. Several runtimes can
 * share a sidecar: pass the sidecar to each call of `NodeRuntime.create({ sidecar })`.
 *
 * @example
 * await using sidecar = await Sidecar.spawn();
 * const runtime = await NodeRuntime.create({ sidecar });
 */
export class Sidecar implements AsyncDisposable {
  readonly #connection: SidecarConnection;
  /** The snapshots in the sidecar's memory and in its folder. */
  readonly snapshots: SnapshotStore;

  private constructor(opening: Opening) {
    this.#connection = opening.connection;
    this.snapshots = new SnapshotStore(new SidecarLease(opening.connection), DEFAULT_TENANT);
    register(this, opening);
  }

  /**
   * Starts a sidecar process. Resolves when the sidecar is ready for runtimes. The process ends
   * after `dispose()`, or when this process ends.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_PACKAGE_NOT_FOUND`, `ERR_SIDECAR_SPAWN`,
   * `ERR_SIDECAR_EXITED`, `ERR_VERSION_MISMATCH`, `ERR_WALLS_MISSING`
   */
  static async spawn(options?: SidecarSpawnOptions): Promise<Sidecar> {
    checkOptions('Sidecar.spawn()', options);
    return Sidecar.#open(openProcess(await installation(), options), options?.onBootTiming);
  }

  /**
   * Opens a sidecar inside this process. Guests run on threads of the sidecar, and with
   * `inlineBudgetMs` also on the calling thread. The WebAssembly sandbox is the only boundary
   * between guest and app. Use this mode for code that you partly trust, or behind another
   * boundary.
   *
   * @throws `ERR_INVALID_OPTION`, `ERR_PACKAGE_NOT_FOUND`, `ERR_SIDECAR_SPAWN`, `ERR_IMAGE`,
   * `ERR_VERSION_MISMATCH`
   */
  static async embedded(options?: SidecarEmbeddedOptions): Promise<Sidecar> {
    checkOptions('Sidecar.embedded()', options);
    return Sidecar.#open(await openEmbedded(options), options?.onBootTiming);
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

  /** The pid of the process that runs the guests. In embedded mode, the pid of this process. */
  get pid(): number {
    return this.#connection.pid;
  }

  /** The content hash of the guest image. Snapshots with another image cannot be restored. */
  get imageVersion(): string {
    return this.#connection.image();
  }

  /**
   * The parts of the wall that the operating system builds around the sidecar's process, and the
   * reason for each missing part. Empty in embedded mode, and with `walls: 'off'`.
   */
  get walls(): readonly Wall[] {
    return wallsOf(this.#connection);
  }

  /**
   * Resolves when the sidecar has replied. The reply proves that the sidecar lives and that no
   * guest blocks the sidecar.
   *
   * @throws `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  ping(): Promise<void> {
    return this.#connection.request('ping', {});
  }

  /**
   * Returns the resources in use over all runtimes.
   *
   * @throws `ERR_SIDECAR_EXITED`, `ERR_SIDECAR_DISPOSED`
   */
  getResourceSnapshot(): Promise<SidecarResources> {
    return this.#connection.request('resources', {});
  }

  /**
   * Ends the sidecar and all its runtimes. Pending calls reject with `ERR_SIDECAR_DISPOSED`.
   * Resolves when the sidecar has ended. Further calls do nothing.
   */
  dispose(): Promise<void> {
    return this.#connection.dispose();
  }

  /** Calls `dispose()`, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.dispose();
  }
}
