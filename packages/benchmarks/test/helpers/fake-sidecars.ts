// Provides sidecars without a sandbox. A guest is a `node:vm` context in this process, and a
// snapshot is a copy of the guest's state. The faults make guests lose their state, and calls fail
// or hang.

import { createRequire } from 'node:module';
import { createContext, runInContext } from 'node:vm';
import type {
  MeasuredRuntime,
  MeasuredSidecar,
  MeasuredSnapshot,
  OpenSidecar,
  RuntimeOptions,
} from '../../src/sandbox/runtime.js';

type Kept = { data: Uint8Array[] } & Record<string, unknown>;

interface Guest {
  kept?: Kept;
  order?: unknown;
}

export interface Faults {
  /**
   * Changes the state of the `nth` guest copy, from 1. Every step that copies a guest counts, such
   * as a snapshot or a clone.
   */
  forget?: (nth: number, guest: Guest) => void;
  /** Called before the `nth` call of a name, from 1. Can throw or wait. */
  before?: (call: string, nth: number) => Promise<void> | void;
}

export class FakeSidecars {
  readonly calls: Record<string, number> = {};
  readonly disk = new Map<string, Guest>();
  live = 0;
  kills = 0;
  opened = 0;
  #copies = 0;
  #names = 0;
  readonly faults: Faults;

  constructor(faults: Faults = {}) {
    this.faults = faults;
  }

  readonly open: OpenSidecar = async () => {
    this.opened++;
    return this.#sidecar();
  };

  async call(name: string): Promise<void> {
    this.calls[name] = (this.calls[name] ?? 0) + 1;
    await this.faults.before?.(name, this.calls[name]);
  }

  name = (): string => `snap-${++this.#names}`;

  copyOf(guest: Guest): Guest {
    const copy: Guest = { ...guest, ...(guest.kept && { kept: structuredClone(guest.kept) }) };
    this.faults.forget?.(++this.#copies, copy);
    return copy;
  }

  #sidecar(): MeasuredSidecar {
    const memory = new Map<string, Guest>();
    const runtimes = new Set<FakeRuntime>();
    const end = async () => {
      this.live -= runtimes.size;
      runtimes.clear();
    };
    const add = (guest: Guest): FakeRuntime => {
      const runtime = new FakeRuntime(this, guest, memory, add, (disposed) => {
        if (runtimes.delete(disposed)) this.live--;
      });
      runtimes.add(runtime);
      this.live++;
      return runtime;
    };
    return {
      pid: 0,
      create: async (_options: RuntimeOptions) => {
        await this.call('create');
        return add({});
      },
      restore: async (snapshot: MeasuredSnapshot | string) => {
        await this.call('restore');
        const id = typeof snapshot === 'string' ? snapshot : snapshot.id;
        const guest = memory.get(id) ?? this.disk.get(id);
        if (!guest) throw Object.assign(new Error(`no snapshot ${id}`), { code: 'ERR_SNAPSHOT_NOT_FOUND' });
        return add(this.copyOf(guest));
      },
      deleteSnapshot: async ({ id }: MeasuredSnapshot) => {
        await this.call('deleteSnapshot');
        if (!memory.delete(id) && !this.disk.delete(id)) throw new Error(`no snapshot ${id}`);
      },
      held: async () => ({ runtimes: runtimes.size, processes: runtimes.size }),
      kill: async () => {
        this.kills++;
        await end();
      },
      close: end,
    };
  }
}

class FakeRuntime implements MeasuredRuntime {
  readonly #sidecars: FakeSidecars;
  readonly #memory: Map<string, Guest>;
  readonly #add: (guest: Guest) => FakeRuntime;
  readonly #disposed: (runtime: FakeRuntime) => void;
  #guest: Guest;

  constructor(
    sidecars: FakeSidecars,
    guest: Guest,
    memory: Map<string, Guest>,
    add: (guest: Guest) => FakeRuntime,
    disposed: (runtime: FakeRuntime) => void,
  ) {
    this.#sidecars = sidecars;
    this.#guest = guest;
    this.#memory = memory;
    this.#add = add;
    this.#disposed = disposed;
  }

  async evaluate(code: string) {
    await this.#sidecars.call('evaluate');
    const lines: string[] = [];
    const console = { log: (...values: unknown[]) => lines.push(`${values.join(' ')}\n`) };
    const context = createContext({ ...this.#guest, console, Buffer, createRequire: () => createRequire(import.meta.url) });
    try {
      runInContext(code.replace(/^import .*$/gm, ''), context);
    } catch (error) {
      return { stdout: String(error), exitCode: 1 };
    }
    this.#guest = { ...(context.kept && { kept: context.kept }), ...(context.order && { order: context.order }) };
    return { stdout: lines.join(''), exitCode: 0 };
  }

  exec = (code: string) => this.evaluate(code);

  async snapshot(store: 'memory' | 'disk') {
    await this.#sidecars.call('snapshot');
    const id = this.#sidecars.name();
    const copy = { ...this.#guest, ...(this.#guest.kept && { kept: structuredClone(this.#guest.kept) }) };
    (store === 'disk' ? this.#sidecars.disk : this.#memory).set(id, copy);
    return { id, bytes: copy.kept?.data.reduce((sum, each) => sum + each.length, 0) ?? 0 };
  }

  async rollback({ id }: MeasuredSnapshot) {
    await this.#sidecars.call('rollback');
    const guest = this.#memory.get(id);
    if (guest) this.#guest = this.#sidecars.copyOf(guest);
  }

  async clone(count: number) {
    await this.#sidecars.call('clone');
    return Array.from({ length: count }, () => this.#add(this.#sidecars.copyOf(this.#guest)));
  }

  pause = () => this.#sidecars.call('pause');

  async resume() {
    await this.#sidecars.call('resume');
    this.#guest = this.#sidecars.copyOf(this.#guest);
  }

  startTicker = async () => ({ begin: async () => {}, worst: async () => 1.25 });

  async dispose() {
    await this.#sidecars.call('dispose');
    this.#disposed(this);
  }
}
