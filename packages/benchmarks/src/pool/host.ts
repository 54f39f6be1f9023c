// What the pool benchmark needs of a sidecar, as an interface, so that its arithmetic is tested without one; and the real thing.

import { NodeRuntime, RuntimePool, Sidecar } from 'coldframe';
import { killSidecar } from '../machine/kill-sidecar.js';

export interface PoolShape {
  size: number;
  min: number;
  uses: number;
  recycle: 'each-use' | 'last-use';
  /** A snapshot on disk to make slots from; without it the pool takes its own. */
  snapshot?: string;
}

export interface Counts {
  idle: number;
  hits: number;
  misses: number;
  created: number;
  recycled: number;
}

export interface TaskPool {
  /** Runs a program in a slot of the tenant's; gives what it wrote. */
  run(program: string, tenant: string): Promise<string>;
  /** Takes a slot; gives what gives it back. */
  take(tenant: string): Promise<() => void>;
  counts(): Counts;
  dispose(): Promise<void>;
}

export interface PoolHost {
  readonly pid: number;
  pool(shape: PoolShape): TaskPool;
  /** A box of its own for one program, made anew or from a snapshot, and disposed of. */
  once(program: string, snapshot?: string): Promise<string>;
  /** Saves a fresh box; gives its id. */
  save(where: 'memory' | 'disk'): Promise<string>;
  remove(id: string): Promise<void>;
  held(): Promise<{ runtimes: number; processes: number }>;
  kill(): Promise<void>;
  close(): Promise<void>;
}

export type OpenPoolHost = (directory: string) => Promise<PoolHost>;

class SdkPoolHost implements PoolHost {
  readonly #sidecar: Sidecar;

  constructor(sidecar: Sidecar) {
    this.#sidecar = sidecar;
  }

  get pid(): number {
    return this.#sidecar.pid;
  }

  pool({ size, min, uses, recycle, snapshot }: PoolShape): TaskPool {
    const sidecar = this.#sidecar;
    const pool = new RuntimePool({
      sidecar,
      size,
      min,
      reuse: uses,
      recycle,
      maxWaiting: 10_000,
      ...(snapshot !== undefined && { snapshot }),
    });
    return {
      run: (program, tenant) => pool.withRuntime(async (runtime) => answerOf(await runtime.exec(program)), { tenant }),
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
      return answerOf(await runtime.exec(program));
    } finally {
      await runtime.dispose();
    }
  }

  async save(where: 'memory' | 'disk'): Promise<string> {
    const runtime = await NodeRuntime.create({ sidecar: this.#sidecar });
    try {
      return (await runtime.snapshot({ store: where })).id;
    } finally {
      await runtime.dispose();
    }
  }

  remove = (id: string): Promise<void> => this.#sidecar.snapshots.delete(id);

  async held() {
    const { runtimes, processes } = await this.#sidecar.getResourceSnapshot();
    return { runtimes, processes };
  }

  kill = (): Promise<void> => killSidecar(this.#sidecar);

  close = (): Promise<void> => this.#sidecar.dispose();
}

function answerOf({ stdout, stderr, exitCode }: { stdout: string; stderr: string; exitCode: number }): string {
  if (exitCode !== 0) throw new Error(`exit code ${exitCode}: ${stderr.slice(0, 200)}`);
  return stdout;
}

export const openPoolHost: OpenPoolHost = async (directory) => new SdkPoolHost(await Sidecar.spawn({ snapshots: { directory } }));
