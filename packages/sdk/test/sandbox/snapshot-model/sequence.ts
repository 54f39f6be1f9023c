// Runs sequences of actions on a runtime and on a plain model, and compares the runtime with the
// model.
//
// The model has no memory, processes or files. The model is a `GuestState`, and a snapshot of the
// model is a copy of that object. Next: `../snapshot-model.test.ts`.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { NodeRuntime, type ResidentRunner, type Sidecar, type Snapshot } from '../../../src/index.js';
import type { Action } from './actions.js';
import { evaluate, type GuestState, readState, SNIPPETS } from './guest.js';

const MAX_CHILDREN = 3;

/** A snapshot, and the model's state at that time. */
interface TakenSnapshot {
  snapshot: Snapshot;
  state: GuestState;
  disk: boolean;
}

/** Opens and kills a sidecar. An embedded sidecar cannot be killed. */
export interface SidecarKind {
  open(directory: string): Promise<Sidecar>;
  kill?(sidecar: Sidecar): Promise<void>;
}

/** The sidecar and its folder of snapshots, which many sequences share. */
export class SharedSidecar {
  readonly #kind: SidecarKind;
  readonly #directory: string;
  readonly #seen = new Set<string>();
  #sidecar: Sidecar;
  #sequence = 0;

  private constructor(kind: SidecarKind, directory: string, sidecar: Sidecar) {
    this.#kind = kind;
    this.#directory = directory;
    this.#sidecar = sidecar;
  }

  static async open(kind: SidecarKind): Promise<SharedSidecar> {
    const directory = await mkdtemp(join(tmpdir(), 'coldframe-model-'));
    return new SharedSidecar(kind, directory, await kind.open(directory));
  }

  get sidecar(): Sidecar {
    return this.#sidecar;
  }

  get canKill(): boolean {
    return this.#kind.kill !== undefined;
  }

  /** Kills or disposes the sidecar, and opens another sidecar with the same folder. */
  async restart(killed: boolean): Promise<void> {
    if (killed && this.#kind.kill) await this.#kind.kill(this.#sidecar);
    await this.#sidecar.dispose();
    this.#sidecar = await this.#kind.open(this.#directory);
  }

  /** Asserts that no other guest has had the random values of this guest. */
  async assertUnique(runner: ResidentRunner): Promise<void> {
    for (const value of JSON.parse(await evaluate(runner, SNIPPETS.unique)) as unknown[]) {
      const text = String(value);
      expect(this.#seen.has(text), `${text} was used before`).toBe(false);
      this.#seen.add(text);
    }
  }

  /** Runs one sequence in its own tenant. */
  async run(actions: readonly Action[]): Promise<void> {
    this.#sequence += 1;
    const sequence = await Sequence.begin(this, `sequence-${this.#sequence}`);
    try {
      for (const action of actions) await sequence.do(action);
      await sequence.end();
    } finally {
      await sequence.dispose();
    }
  }

  async close(): Promise<void> {
    await this.#sidecar.dispose();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

class Sequence {
  readonly #shared: SharedSidecar;
  readonly #tenant: string;
  #runtime: NodeRuntime;
  #runner: ResidentRunner;
  #state: GuestState = { values: {}, files: {}, counts: [], fired: [] };
  #taken: TakenSnapshot[] = [];
  #timers = 0;

  private constructor(shared: SharedSidecar, tenant: string, runtime: NodeRuntime, runner: ResidentRunner) {
    this.#shared = shared;
    this.#tenant = tenant;
    this.#runtime = runtime;
    this.#runner = runner;
  }

  static async begin(shared: SharedSidecar, tenant: string): Promise<Sequence> {
    const runtime = await NodeRuntime.create({ sidecar: shared.sidecar, tenant });
    const runner = await runtime.createResidentRunner();
    await evaluate(runner, SNIPPETS.setup);
    return new Sequence(shared, tenant, runtime, runner);
  }

  async do(action: Action): Promise<void> {
    const state = this.#state;
    switch (action.do) {
      case 'set':
        await evaluate(this.#runner, SNIPPETS.set(action.name, action.value));
        state.values[action.name] = action.value;
        return;
      case 'write':
        await evaluate(this.#runner, SNIPPETS.write(action.name, action.text));
        state.files[action.name] = action.text;
        return;
      case 'append':
        await evaluate(this.#runner, SNIPPETS.append(action.name, action.text));
        state.files[action.name] = (state.files[action.name] ?? '') + action.text;
        return;
      case 'remove':
        await evaluate(this.#runner, SNIPPETS.remove(action.name));
        delete state.files[action.name];
        return;
      case 'child':
        if (state.counts.length === MAX_CHILDREN) return;
        await evaluate(this.#runner, SNIPPETS.child());
        state.counts.push(0);
        return;
      case 'count': {
        if (state.counts.length === 0) return;
        const child = action.child % state.counts.length;
        await evaluate(this.#runner, SNIPPETS.count(child, action.n));
        state.counts[child] = (state.counts[child] ?? 0) + action.n;
        return;
      }
      case 'timer':
        this.#timers += 1;
        await evaluate(this.#runner, SNIPPETS.timer(`${this.#timers}`, action.ms));
        state.fired.push(`${this.#timers}`);
        return;
      case 'check':
        return this.#check();
      default:
        return this.#move(action);
    }
  }

  /** Compares the state and the list of the store for the last time, and deletes all snapshots. */
  async end(): Promise<void> {
    await this.#check();
    const snapshots = this.#shared.sidecar.snapshots;
    const listed = await snapshots.list({ tenant: this.#tenant });
    expect(listed.map(({ id }) => id).sort()).toEqual(this.#taken.map(({ snapshot }) => snapshot.id).sort());
    for (const { snapshot } of this.#taken) await snapshot.delete();
    expect((await snapshots.list({ tenant: this.#tenant })).length).toBe(0);
  }

  dispose(): Promise<void> {
    return this.#runtime.dispose();
  }

  async #check(runner = this.#runner): Promise<void> {
    expect(sorted(await readState(runner))).toEqual(sorted(this.#state));
  }

  async #move(action: Action): Promise<void> {
    switch (action.do) {
      case 'snapshot': {
        const snapshot = await this.#runtime.snapshot({ store: action.disk ? 'disk' : 'memory' });
        this.#taken.push({ snapshot, state: structuredClone(this.#state), disk: action.disk });
        return;
      }
      case 'rollback': {
        const to = this.#pick(action.to);
        if (to === undefined) return;
        await this.#runtime.rollback(to.snapshot);
        this.#state = structuredClone(to.state);
        // Every snapshot contains the runner, so its handle still works.
        return this.#shared.assertUnique(this.#runner);
      }
      case 'clone': {
        const copy = await this.#runtime.clone();
        return this.#choose(copy, action.move);
      }
      case 'restore': {
        const from = this.#pick(action.from);
        if (from === undefined) return;
        const before = this.#runtime;
        await this.#enter(from);
        return before.dispose();
      }
      case 'pause': {
        const snapshot = await this.#runtime.pause();
        if (action.elsewhere) {
          const before = this.#runtime;
          await this.#enter({ snapshot, state: this.#state, disk: true });
          await before.dispose();
        } else {
          await this.#runtime.resume();
        }
        await snapshot.delete();
        return this.#shared.assertUnique(this.#runner);
      }
      case 'kill':
      case 'restart': {
        if (!this.#shared.canKill) return;
        const before = this.#runtime;
        await this.#shared.restart(action.do === 'kill');
        await before.dispose();
        this.#taken = this.#taken.filter(({ disk }) => disk);
        for (const taken of this.#taken) {
          const found = await this.#shared.sidecar.snapshots.get(taken.snapshot.id, { tenant: this.#tenant });
          taken.snapshot = found;
        }
        const from = this.#pick(action.from);
        if (from !== undefined) return this.#enter(from);
        const fresh = await Sequence.begin(this.#shared, this.#tenant);
        [this.#runtime, this.#runner, this.#state] = [fresh.#runtime, fresh.#runner, fresh.#state];
      }
    }
  }

  /** Restores a runtime from a snapshot and continues the sequence in that runtime. */
  async #enter({ snapshot, state }: TakenSnapshot): Promise<void> {
    this.#runtime = await NodeRuntime.create({ sidecar: this.#shared.sidecar, snapshot, tenant: this.#tenant });
    this.#runner = await onlyRunner(this.#runtime);
    this.#state = structuredClone(state);
    await this.#shared.assertUnique(this.#runner);
  }

  /**
   * Continues the sequence in the clone `copy` if `move` is true, otherwise in the original
   * runtime. Changes and disposes the other runtime first. The changes must not be visible in the
   * runtime that continues.
   */
  async #choose(copy: NodeRuntime, move: boolean): Promise<void> {
    const runner = await onlyRunner(copy);
    await this.#shared.assertUnique(this.#runner);
    await this.#shared.assertUnique(runner);
    await this.#check(runner);
    const [kept, left] = move ? [{ runtime: copy, runner }, this.#current()] : [this.#current(), { runtime: copy, runner }];
    await evaluate(left.runner, SNIPPETS.set('a', 'changed'));
    await evaluate(left.runner, SNIPPETS.write('changed', 'changed'));
    if (this.#state.counts.length > 0) await evaluate(left.runner, SNIPPETS.count(0, 1_000_000));
    await left.runtime.dispose();
    [this.#runtime, this.#runner] = [kept.runtime, kept.runner];
  }

  #current(): { runtime: NodeRuntime; runner: ResidentRunner } {
    return { runtime: this.#runtime, runner: this.#runner };
  }

  #pick(index: number): TakenSnapshot | undefined {
    return this.#taken[index % Math.max(1, this.#taken.length)];
  }
}

async function onlyRunner(runtime: NodeRuntime): Promise<ResidentRunner> {
  const runners = await runtime.residentRunners();
  expect(runners.length).toBe(1);
  return runners[0] as ResidentRunner;
}

function sorted({ values, files, counts, fired }: GuestState): unknown {
  const entries = (record: Record<string, string>): unknown => Object.entries(record).sort();
  return { values: entries(values), files: entries(files), counts, fired };
}
