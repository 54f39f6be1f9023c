// Pools without any sandbox: a slot is a text that the last task has left. They can be told to be dirty, to leave things behind and to fail.

import type { Counts, OpenPoolHost, PoolHost, PoolShape, TaskPool } from '../../src/pool/host.js';

export interface PoolFaults {
  /** Nothing is rolled back. */
  dirty?: boolean;
  /** Called before each task; may throw. */
  before?: (nth: number) => void;
  /** Runtimes that stay when a pool is gone. */
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

  readonly open: OpenPoolHost = async (): Promise<PoolHost> => {
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
      save: async () => {
        const id = `snap-${this.disk.size}`;
        this.disk.add(id);
        return id;
      },
      remove: async (id) => void this.disk.delete(id),
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

  #pool({ size, min, uses, recycle, snapshot }: PoolShape): TaskPool {
    if (snapshot !== undefined && !this.disk.has(snapshot)) throw new Error(`no ${snapshot}`);
    const counts: Counts = { idle: min, hits: 0, misses: 0, created: min, recycled: 0 };
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
