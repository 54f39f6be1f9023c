// A runtime, what became of it so far, and the plain model of both: every action is done to the one and written down in the other.
//
// The model knows nothing of memory, processes or files: it is four lists. A snapshot of it is a copy. Next: `../snapshot-model.test.ts`.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { NodeRuntime, type ResidentRunner, type Sidecar, type Snapshot } from '../../../src/index.js';
import type { Action } from './actions.js';
import { evaluate, SNIPPETS, type Told, tell } from './guest.js';

const MOST_CHILDREN = 3;

/** A snapshot that was taken, and what the runtime was then. */
interface Taken {
  snapshot: Snapshot;
  state: Told;
  disk: boolean;
}

/** How the sidecar is found and ended; the embedded one cannot be killed. */
export interface Ground {
  open(directory: string): Promise<Sidecar>;
  kill?(sidecar: Sidecar): Promise<void>;
}

/** Lasts for many sequences: the sidecar and the folder with snapshots. */
export class World {
  readonly #ground: Ground;
  readonly #directory: string;
  readonly #seen = new Set<string>();
  #sidecar: Sidecar;
  #sequence = 0;

  private constructor(ground: Ground, directory: string, sidecar: Sidecar) {
    this.#ground = ground;
    this.#directory = directory;
    this.#sidecar = sidecar;
  }

  static async open(ground: Ground): Promise<World> {
    const directory = await mkdtemp(join(tmpdir(), 'coldframe-model-'));
    return new World(ground, directory, await ground.open(directory));
  }

  get sidecar(): Sidecar {
    return this.#sidecar;
  }

  get canKill(): boolean {
    return this.#ground.kill !== undefined;
  }

  /** Ends the sidecar, killed or in order, and begins another on the same folder. */
  async again(killed: boolean): Promise<void> {
    if (killed && this.#ground.kill) await this.#ground.kill(this.#sidecar);
    await this.#sidecar.dispose();
    this.#sidecar = await this.#ground.open(this.#directory);
  }

  /** Nothing that a guest draws has been drawn by another one. */
  async assertUnique(runner: ResidentRunner): Promise<void> {
    for (const drawn of JSON.parse(await evaluate(runner, SNIPPETS.unique)) as unknown[]) {
      const text = String(drawn);
      expect(this.#seen.has(text), `${text} was drawn before`).toBe(false);
      this.#seen.add(text);
    }
  }

  /** Plays one sequence from its beginning, in a tenant of its own. */
  async play(actions: readonly Action[]): Promise<void> {
    this.#sequence += 1;
    const play = await Play.begin(this, `sequence-${this.#sequence}`);
    try {
      for (const action of actions) await play.do(action);
      await play.end();
    } finally {
      await play.dispose();
    }
  }

  async close(): Promise<void> {
    await this.#sidecar.dispose();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

class Play {
  readonly #world: World;
  readonly #tenant: string;
  #runtime: NodeRuntime;
  #runner: ResidentRunner;
  #state: Told = { values: {}, files: {}, counts: [], fired: [] };
  #taken: Taken[] = [];
  #timers = 0;

  private constructor(world: World, tenant: string, runtime: NodeRuntime, runner: ResidentRunner) {
    this.#world = world;
    this.#tenant = tenant;
    this.#runtime = runtime;
    this.#runner = runner;
  }

  static async begin(world: World, tenant: string): Promise<Play> {
    const runtime = await NodeRuntime.create({ sidecar: world.sidecar, tenant });
    const runner = await runtime.createResidentRunner();
    await evaluate(runner, SNIPPETS.setup);
    return new Play(world, tenant, runtime, runner);
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
        if (state.counts.length === MOST_CHILDREN) return;
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

  /** The last look: at the state, and at what the store knows. Then everything is deleted. */
  async end(): Promise<void> {
    await this.#check();
    const snapshots = this.#world.sidecar.snapshots;
    const listed = await snapshots.list({ tenant: this.#tenant });
    expect(listed.map(({ id }) => id).sort()).toEqual(this.#taken.map(({ snapshot }) => snapshot.id).sort());
    for (const { snapshot } of this.#taken) await snapshot.delete();
    expect((await snapshots.list({ tenant: this.#tenant })).length).toBe(0);
  }

  dispose(): Promise<void> {
    return this.#runtime.dispose();
  }

  async #check(runner = this.#runner): Promise<void> {
    expect(sorted(await tell(runner))).toEqual(sorted(this.#state));
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
        // The runner was there at every snapshot: its handle goes on.
        return this.#world.assertUnique(this.#runner);
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
        return this.#world.assertUnique(this.#runner);
      }
      case 'kill':
      case 'restart': {
        if (!this.#world.canKill) return;
        const before = this.#runtime;
        await this.#world.again(action.do === 'kill');
        await before.dispose();
        this.#taken = this.#taken.filter(({ disk }) => disk);
        for (const taken of this.#taken) {
          const found = await this.#world.sidecar.snapshots.get(taken.snapshot.id, { tenant: this.#tenant });
          taken.snapshot = found;
        }
        const from = this.#pick(action.from);
        if (from !== undefined) return this.#enter(from);
        const fresh = await Play.begin(this.#world, this.#tenant);
        [this.#runtime, this.#runner, this.#state] = [fresh.#runtime, fresh.#runner, fresh.#state];
      }
    }
  }

  /** Goes on in a runtime that is made of a snapshot. */
  async #enter({ snapshot, state }: Taken): Promise<void> {
    this.#runtime = await NodeRuntime.create({ sidecar: this.#world.sidecar, snapshot, tenant: this.#tenant });
    this.#runner = await onlyRunner(this.#runtime);
    this.#state = structuredClone(state);
    await this.#world.assertUnique(this.#runner);
  }

  /** Goes on in the copy, or where it was. The other one is spoilt first: nobody may see that. */
  async #choose(copy: NodeRuntime, move: boolean): Promise<void> {
    const runner = await onlyRunner(copy);
    await this.#world.assertUnique(this.#runner);
    await this.#world.assertUnique(runner);
    await this.#check(runner);
    const [stays, goes] = move ? [{ runtime: copy, runner }, this.#place()] : [this.#place(), { runtime: copy, runner }];
    await evaluate(goes.runner, SNIPPETS.set('a', 'spoilt'));
    await evaluate(goes.runner, SNIPPETS.write('spoilt', 'spoilt'));
    if (this.#state.counts.length > 0) await evaluate(goes.runner, SNIPPETS.count(0, 1_000_000));
    await goes.runtime.dispose();
    [this.#runtime, this.#runner] = [stays.runtime, stays.runner];
  }

  #place(): { runtime: NodeRuntime; runner: ResidentRunner } {
    return { runtime: this.#runtime, runner: this.#runner };
  }

  #pick(index: number): Taken | undefined {
    return this.#taken[index % Math.max(1, this.#taken.length)];
  }
}

async function onlyRunner(runtime: NodeRuntime): Promise<ResidentRunner> {
  const runners = await runtime.residentRunners();
  expect(runners.length).toBe(1);
  return runners[0] as ResidentRunner;
}

function sorted({ values, files, counts, fired }: Told): unknown {
  const entries = (record: Record<string, string>): unknown => Object.entries(record).sort();
  return { values: entries(values), files: entries(files), counts, fired };
}
