// Makes the runtimes of the cases in one of three modes. In owned mode each runtime has its own
// sidecar process. In shared mode all runtimes use the neighbour's sidecar process. In embedded
// mode the sidecar is a part of the test's process.

import { NodeRuntime, type NodeRuntimeOptions, Sidecar } from '../../../../src/index.js';
import type { NeighbourSnapshot } from './neighbour.js';

export const MODES = ['owned', 'shared', 'embedded'] as const;
export type Mode = (typeof MODES)[number];

/** Threads of the sidecar that the neighbour uses. */
const WORKERS = 2;
/**
 * The suite reads the sidecar's descriptors and mappings, which the wall hides from every user but
 * root.
 */
const WALLS = process.getuid?.() === 0 ? 'auto' : 'off';

/** Opens the sidecar of the neighbour. */
export const openSidecar = (mode: Mode): Promise<Sidecar> =>
  mode === 'embedded' ? Sidecar.embedded({ workers: WORKERS }) : Sidecar.spawn({ workers: WORKERS, walls: WALLS });

/** The surroundings of one case: its mode, its runtimes, and the snapshot of the neighbour. */
export class Place {
  readonly mode: Mode;
  readonly snapshot: NeighbourSnapshot;
  readonly #sidecar: Sidecar;
  readonly #runtimes: NodeRuntime[] = [];

  constructor(mode: Mode, sidecar: Sidecar, snapshot: NeighbourSnapshot) {
    this.mode = mode;
    this.snapshot = snapshot;
    this.#sidecar = sidecar;
  }

  /** Makes a runtime. The harness disposes the runtime after the case. */
  async create(options?: NodeRuntimeOptions): Promise<NodeRuntime> {
    const runtime = await NodeRuntime.create(this.mode === 'owned' ? options : { ...options, sidecar: this.#sidecar });
    this.#runtimes.push(runtime);
    return runtime;
  }

  /**
   * Disposes all runtimes and deletes their snapshots. Returns a sentence if the sidecar of a
   * runtime has ended before.
   */
  async close(): Promise<string | undefined> {
    const states = await Promise.all(
      this.#runtimes.map((runtime) =>
        runtime.getResourceSnapshot().then(
          () => undefined,
          (error) => String(error.code),
        ),
      ),
    );
    await Promise.all(this.#runtimes.map((runtime) => runtime.dispose()));
    // Snapshots of the case hold descriptors of the sidecar. The neighbour has another tenant.
    for (const snapshot of await this.#sidecar.snapshots.list()) await snapshot.delete();
    return states.includes('ERR_SIDECAR_EXITED') ? "the sidecar of the case's runtime has ended" : undefined;
  }
}
