// Boxes without any sandbox: a guest is a `node:vm` context in this process, a snapshot a copy of its state. They can be told to forget, to fail and to hang,
// which is what the tests of the lifecycle benchmark are about.

import { createRequire } from 'node:module';
import { createContext, runInContext } from 'node:vm';
import type { Box, BoxOptions, Host, OpenHost, Saved } from '../../src/lifecycle/box.js';

type Kept = { data: Uint8Array[] } & Record<string, unknown>;

interface Guest {
  kept?: Kept;
  order?: unknown;
}

export interface Faults {
  /** Changes what a copy remembers: `nth` counts all copies. */
  forget?: (nth: number, guest: Guest) => void;
  /** Called before each call with its name and how many such calls there were; may throw or wait. */
  before?: (call: string, nth: number) => Promise<void> | void;
}

export class FakeWorld {
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

  readonly open: OpenHost = async () => {
    this.opened++;
    return this.#host();
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

  #host(): Host {
    const memory = new Map<string, Guest>();
    const boxes = new Set<FakeBox>();
    const end = async () => {
      this.live -= boxes.size;
      boxes.clear();
    };
    const add = (guest: Guest): FakeBox => {
      const box = new FakeBox(this, guest, memory, add, (gone) => {
        if (boxes.delete(gone)) this.live--;
      });
      boxes.add(box);
      this.live++;
      return box;
    };
    return {
      pid: 0,
      create: async (_options: BoxOptions) => {
        await this.call('create');
        return add({});
      },
      restore: async (saved: Saved | string) => {
        await this.call('restore');
        const id = typeof saved === 'string' ? saved : saved.id;
        const guest = memory.get(id) ?? this.disk.get(id);
        if (!guest) throw Object.assign(new Error(`no snapshot ${id}`), { code: 'ERR_SNAPSHOT_NOT_FOUND' });
        return add(this.copyOf(guest));
      },
      remove: async ({ id }: Saved) => {
        await this.call('remove');
        if (!memory.delete(id) && !this.disk.delete(id)) throw new Error(`no snapshot ${id}`);
      },
      held: async () => ({ runtimes: boxes.size, processes: boxes.size }),
      kill: async () => {
        this.kills++;
        await end();
      },
      close: end,
    };
  }
}

class FakeBox implements Box {
  readonly #world: FakeWorld;
  readonly #memory: Map<string, Guest>;
  readonly #add: (guest: Guest) => FakeBox;
  readonly #gone: (box: FakeBox) => void;
  #guest: Guest;

  constructor(
    world: FakeWorld,
    guest: Guest,
    memory: Map<string, Guest>,
    add: (guest: Guest) => FakeBox,
    gone: (box: FakeBox) => void,
  ) {
    this.#world = world;
    this.#guest = guest;
    this.#memory = memory;
    this.#add = add;
    this.#gone = gone;
  }

  async ask(code: string) {
    await this.#world.call('ask');
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

  exec = (code: string) => this.ask(code);

  async snapshot(where: 'memory' | 'disk') {
    await this.#world.call('snapshot');
    const id = this.#world.name();
    const copy = { ...this.#guest, ...(this.#guest.kept && { kept: structuredClone(this.#guest.kept) }) };
    (where === 'disk' ? this.#world.disk : this.#memory).set(id, copy);
    return { id, bytes: copy.kept?.data.reduce((sum, each) => sum + each.length, 0) ?? 0 };
  }

  async rollback({ id }: Saved) {
    await this.#world.call('rollback');
    const guest = this.#memory.get(id);
    if (guest) this.#guest = this.#world.copyOf(guest);
  }

  async clone(count: number) {
    await this.#world.call('clone');
    return Array.from({ length: count }, () => this.#add(this.#world.copyOf(this.#guest)));
  }

  pause = () => this.#world.call('pause');

  async resume() {
    await this.#world.call('resume');
    this.#guest = this.#world.copyOf(this.#guest);
  }

  startTicker = async () => ({ begin: async () => {}, worst: async () => 1.25 });

  async dispose() {
    await this.#world.call('dispose');
    this.#gone(this);
  }
}
