// The sidecar that the pool benchmark measures: an interface, and its implementation with the SDK.
//
// Tests implement the interface without a sandbox. In this folder only this file calls the SDK. It
// also uses `../sandbox/kill-sidecar.ts`.

import { NodeRuntime, RuntimePool, Sidecar } from 'coldframe';
import { killSidecar } from '../sandbox/kill-sidecar.js';

export interface PoolShape {
  size: number;
  min: number;
  uses: number;
  recycle: 'each-use' | 'last-use';
  /** The id of a snapshot on disk for the slots. @default the pool takes a snapshot of its own */
  snapshot?: string;
}

export interface PoolCounts {
  idle: number;
  hits: number;
  misses: number;
  created: number;
  recycled: number;
}

export interface MeasuredPool {
  /** Runs a program in a slot of the tenant. Resolves with the program's output. */
  run(program: string, tenant: string): Promise<string>;
  /** Acquires a slot. Resolves with a function that releases the slot. */
  take(tenant: string): Promise<() => void>;
  counts(): PoolCounts;
  dispose(): Promise<void>;
}

export interface PoolSidecar {
  readonly pid: number;
  pool(shape: PoolShape): MeasuredPool;
  /**
   * Runs one program in a runtime that is created, or restored from a snapshot, and disposed of.
   */
  once(program: string, snapshot?: string): Promise<string>;
  /** Takes a snapshot of a fresh runtime. Resolves with the snapshot's id. */
  takeSnapshot(store: 'memory' | 'disk'): Promise<string>;
  deleteSnapshot(id: string): Promise<void>;
  /** Returns the numbers of runtimes and processes that the sidecar reports. */
  held(): Promise<{ runtimes: number; processes: number }>;
  kill(): Promise<void>;
  close(): Promise<void>;
}

export type OpenPoolSidecar = (directory: string) => Promise<PoolSidecar>;

const MAX_WAITING = 10_000;

class SdkPoolSidecar implements PoolSidecar {
  readonly #sidecar: Sidecar;

  constructor(sidecar: Sidecar) {
    this.#sidecar = sidecar;
  }

  get pid(): number {
    return this.#sidecar.pid;
  }

  pool({ size, min, uses, recycle, snapshot }: PoolShape): MeasuredPool {
    const pool = new RuntimePool({
      sidecar: this.#sidecar,
      size,
      min,
      reuse: uses,
      recycle,
      maxWaiting: MAX_WAITING,
      ...(snapshot !== undefined && { snapshot }),
    });
    return {
      run: (program, tenant) => pool.withRuntime(async (runtime) => outputOf(await runtime.exec(program)), { tenant }),
      take: async (tenant) => {
        const lease = await pool.acquire({ tenant });
        return () => lease.release();
      },
      counts: () => pool.stats(),
      dispose: () => pool.dispose(),
    };
  }

  async once(program: string, snapshot?: string): Promise<string> {
    const runtime = await NodeRuntime.create({ sidecar: this.#sidecar, ...(snapshot !== undefined && { snapshot }) });
    try {
      return outputOf(await runtime.exec(program));
    } finally {
      await runtime.dispose();
    }
  }

  async takeSnapshot(store: 'memory' | 'disk'): Promise<string> {
    const runtime = await NodeRuntime.create({ sidecar: this.#sidecar });
    try {
      return (await runtime.snapshot({ store })).id;
    } finally {
      await runtime.dispose();
    }
  }

  deleteSnapshot = (id: string): Promise<void> => this.#sidecar.snapshots.delete(id);

  async held() {
    const { runtimes, processes } = await this.#sidecar.getResourceSnapshot();
    return { runtimes, processes };
  }

  kill = (): Promise<void> => killSidecar(this.#sidecar);

  close = (): Promise<void> => this.#sidecar.dispose();
}

function outputOf({ stdout, stderr, exitCode }: { stdout: string; stderr: string; exitCode: number }): string {
  if (exitCode !== 0) throw new Error(`exit code ${exitCode}: ${stderr.slice(0, 200)}`);
  return stdout;
}

export const openPoolSidecar: OpenPoolSidecar = async (directory) =>
  new SdkPoolSidecar(await Sidecar.spawn({ snapshots: { directory } }));
