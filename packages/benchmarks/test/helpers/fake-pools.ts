// Provides pools without a sandbox. A slot is the text that the last task has written. The faults
// omit rollbacks, leave runtimes behind, and make tasks fail.

import type { MeasuredPool, OpenPoolSidecar, PoolCounts, PoolShape, PoolSidecar } from '../../src/pool/sidecar.js';

export interface PoolFaults {
  /** Whether slots are never rolled back. */
  dirty?: boolean;
  /** Called before the `nth` task, from 1. Can throw. */
  before?: (nth: number) => void;
  /** Runtimes that remain after a pool has ended. */
  left?: number;
}

export class FakePools {
  readonly disk = new Set<string>();
  tasks = 0;
  kills = 0;
  live = 0;
  readonly #faults: PoolFaults;

  constructor(faults: PoolFaults = {}) {
    this.#faults = faults;
  }

  readonly open: OpenPoolSidecar = async (): Promise<PoolSidecar> => {
    this.live++;
    let runtimes = 0;
    return {
      pid: process.pid,
      pool: (shape) => {
        const pool = this.#pool(shape);
        return {
          ...pool,
          dispose: async () => {
            runtimes += this.#faults.left ?? 0;
          },
        };
      },
      once: async (program, snapshot) => {
        if (snapshot !== undefined && !this.disk.has(snapshot)) throw new Error(`no ${snapshot}`);
        return this.#answer(program, 'nothing');
      },
      takeSnapshot: async () => {
        const id = `snap-${this.disk.size}`;
        this.disk.add(id);
        return id;
      },
      deleteSnapshot: async (id) => void this.disk.delete(id),
      held: async () => ({ runtimes, processes: 0 }),
      kill: async () => {
        this.kills++;
        this.live--;
      },
      close: async () => {
        this.live--;
      },
    };
  };

  #pool({ size, min, uses, recycle, snapshot }: PoolShape): MeasuredPool {
    if (snapshot !== undefined && !this.disk.has(snapshot)) throw new Error(`no ${snapshot}`);
    const counts: PoolCounts = { idle: min, hits: 0, misses: 0, created: min, recycled: 0 };
    const slots = new Map<string, { left: string; uses: number }>();
    return {
      run: async (program, tenant) => {
        counts[slots.has(tenant) || slots.size < min ? 'hits' : 'misses']++;
        const slot = slots.get(tenant) ?? { left: 'nothing', uses: 0 };
        slots.set(tenant, slot);
        const answer = this.#answer(program, slot.left);
        slot.left = tenant;
        if (this.#faults.dirty) return answer;
        if (recycle === 'each-use' || ++slot.uses >= uses) Object.assign(slot, { left: 'nothing', uses: 0 });
        return answer;
      },
      take: async () => {
        counts.idle--;
        return () => setTimeout(() => counts.idle++, 1);
      },
      counts: () => ({ ...counts, idle: Math.min(counts.idle, size) }),
      dispose: async () => {},
    };
  }

  #answer(program: string, found: string): string {
    this.#faults.before?.(++this.tasks);
    return `${/console\.log\("(\w+)"/.exec(program)?.[1]} ${found}\n`;
  }
}
