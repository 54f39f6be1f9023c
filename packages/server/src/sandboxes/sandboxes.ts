// The sandboxes of the server: create, find, change, pause, resume and end them.
//
// The registry decides which sandboxes exist. A sandbox leaves the registry before its runtime
// ends, so that every later list shows the end. Calls that pause, resume or copy one sandbox run
// one after the other. Next: `sandbox.ts`.

import { isColdframeError, NodeRuntime, type Sidecar } from 'coldframe';
import { newSandboxId, newTemplateId, newToken } from '../ids.js';
import type { Lifecycle, SandboxRecord, TemplateRecord } from '../registry/records.js';
import type { Registry } from '../registry/registry.js';
import { BASE, makeBase } from './base.js';
import { SandboxFailure } from './failure.js';
import { Sandbox } from './sandbox.js';

/** The wish for a new sandbox. */
export interface NewSandbox extends Lifecycle {
  tenant: string;
  template: string;
  timeoutMs: number;
  metadata: Record<string, string>;
  env: Record<string, string>;
}

/** A copy of a sandbox, or the reason why the copy is missing. */
export type Fork = { record: SandboxRecord } | { failure: SandboxFailure };

/** The sandboxes of one server. */
export class Sandboxes {
  readonly #registry: Registry;
  readonly #sidecar: Sidecar;
  readonly #live = new Map<string, Sandbox>();
  /** The last call about each sandbox that has calls. */
  readonly #turns = new Map<string, Promise<unknown>>();
  /** A runtime of `base` for each tenant, whose clones are the sandboxes. */
  readonly #bases = new Map<string, Promise<NodeRuntime>>();

  constructor(registry: Registry, sidecar: Sidecar) {
    this.#registry = registry;
    this.#sidecar = sidecar;
  }

  /** Creates a sandbox from a template or a snapshot. */
  async create(wish: NewSandbox): Promise<SandboxRecord> {
    const { tenant, template, timeoutMs, metadata, env, autoPause, autoPauseMemory, autoResume } = wish;
    const { runtime, templateId } = await this.#fromTemplate(tenant, template);
    const startedAt = Date.now();
    const record: SandboxRecord = {
      id: newSandboxId(),
      tenant,
      templateId,
      alias: template === templateId ? undefined : template,
      state: 'running',
      metadata,
      env,
      startedAt,
      endAt: startedAt + timeoutMs,
      accessToken: newToken(),
      snapshot: undefined,
      epoch: this.#registry.epoch,
      autoPause,
      autoPauseMemory,
      autoResume,
    };
    await this.#adopt(record, runtime);
    return record;
  }

  /** Returns a sandbox of a tenant. */
  find(tenant: string, id: string): SandboxRecord {
    const record = this.#registry.sandbox(id);
    if (record === undefined || record.tenant !== tenant) throw notFound(id);
    return record;
  }

  /** Returns the running sandbox with an id of any tenant, or `undefined`. */
  running(id: string): { record: SandboxRecord; sandbox: Sandbox } | undefined {
    const record = this.#registry.sandbox(id);
    const sandbox = this.#live.get(id);
    return record?.state === 'running' && sandbox !== undefined ? { record, sandbox } : undefined;
  }

  /** The sandboxes of this process, with their tokens. A paused sandbox may be among them. */
  get held(): Iterable<{ readonly id: string; readonly accessToken: string }> {
    return this.#live.values();
  }

  /** Ends a sandbox. Returns whether the sandbox existed. */
  async kill(tenant: string, id: string): Promise<boolean> {
    const record = this.#registry.sandbox(id);
    if (record === undefined || record.tenant !== tenant) return false;
    return this.#end(id);
  }

  /** Sets the end of a sandbox to `timeoutMs` from now. With 0 or less, the sandbox ends now. */
  async setTimeout(tenant: string, id: string, timeoutMs: number): Promise<void> {
    const record = this.find(tenant, id);
    if (record.state !== 'running') throw notRunning(id);
    this.#setEnd(id, Date.now() + timeoutMs);
  }

  /** Moves the end of a sandbox to `timeoutMs` from now, unless the end is later already. */
  extend(record: SandboxRecord, timeoutMs: number): void {
    const endAt = Date.now() + timeoutMs;
    if (endAt > record.endAt) this.#setEnd(record.id, endAt);
  }

  /** Resumes a paused sandbox, and extends its time. Returns whether the sandbox was paused. */
  async connect(tenant: string, id: string, timeoutMs: number): Promise<{ record: SandboxRecord; wasPaused: boolean }> {
    return this.#inTurn(id, async () => {
      const record = this.find(tenant, id);
      const wasPaused = record.state === 'paused';
      if (wasPaused) await this.#resume(record, timeoutMs);
      else this.extend(record, timeoutMs);
      return { record: this.find(tenant, id), wasPaused };
    });
  }

  /** Pauses a sandbox on disk. Returns `false` if the sandbox is paused already. */
  async pause(tenant: string, id: string): Promise<boolean> {
    return this.#inTurn(id, async () => {
      if (this.find(tenant, id).state === 'paused') return false;
      const sandbox = this.#liveOf(id);
      const snapshot = await quietly(id, () => sandbox.runtime.pause());
      sandbox.clearDeadline();
      sandbox.endStreams();
      this.#registry.changeSandbox(id, { state: 'paused', snapshot: snapshot.id });
      return true;
    });
  }

  /** Takes a snapshot of a running sandbox, which new sandboxes can be made from. */
  async snapshot(tenant: string, id: string, name: string | undefined): Promise<TemplateRecord> {
    return this.#inTurn(id, async () => {
      if (this.find(tenant, id).state !== 'running') throw notRunning(id);
      if (name !== undefined && this.#registry.template(tenant, name) !== undefined) {
        throw new SandboxFailure('name-taken', `A snapshot with the name ${name} exists`);
      }
      const taken = await quietly(id, () => this.#liveOf(id).runtime.snapshot({ store: 'disk' }));
      const record = { id: newTemplateId(), tenant, name, snapshot: taken.id, sandboxId: id, createdAt: Date.now() };
      this.#registry.addTemplate(record);
      return record;
    });
  }

  /** Deletes a snapshot. Returns whether the snapshot existed. */
  async deleteSnapshot(tenant: string, reference: string): Promise<boolean> {
    const record = this.#registry.template(tenant, reference);
    if (record === undefined) return false;
    this.#registry.removeTemplate(record.id);
    await this.#sidecar.snapshots.delete(record.snapshot, { tenant });
    return true;
  }

  /** Makes copies of a running sandbox. */
  async fork(tenant: string, id: string, count: number, timeoutMs: number): Promise<Fork[]> {
    return this.#inTurn(id, async () => {
      const source = this.find(tenant, id);
      if (source.state !== 'running') throw notRunning(id);
      const settled = await quietly(id, () => this.#liveOf(id).runtime.clone(count, { settle: true }));
      return Promise.all(settled.map((one) => this.#forked(source, one, timeoutMs)));
    });
  }

  /** Ends all runtimes. Paused sandboxes stay in the registry and on disk. */
  async close(): Promise<void> {
    const bases = await Promise.allSettled(this.#bases.values());
    await Promise.all([...this.#live.values()].map((sandbox) => sandbox.end()));
    await Promise.all(bases.map((base) => (base.status === 'fulfilled' ? base.value.dispose() : undefined)));
    this.#live.clear();
  }

  async #forked(source: SandboxRecord, one: PromiseSettledResult<NodeRuntime>, timeoutMs: number): Promise<Fork> {
    if (one.status === 'rejected') return { failure: noRoom(one.reason) };
    const startedAt = Date.now();
    const own = { id: newSandboxId(), accessToken: newToken(), startedAt, endAt: startedAt + timeoutMs };
    const record = { ...source, ...own };
    await this.#adopt(record, one.value, this.#liveOf(source.id));
    return { record };
  }

  async #fromTemplate(tenant: string, template: string) {
    const known = template === BASE ? undefined : this.#registry.template(tenant, template);
    if (template !== BASE && known === undefined) {
      throw new SandboxFailure('template-not-found', `The template ${template} was not found`);
    }
    try {
      if (known !== undefined) return { runtime: await this.#restore(tenant, known.snapshot), templateId: known.id };
      return { runtime: await (await this.#base(tenant)).clone(), templateId: BASE };
    } catch (error) {
      throw noRoom(error);
    }
  }

  // The snapshot has the environment, the limits and the working directory.
  #restore(tenant: string, snapshot: string): Promise<NodeRuntime> {
    return NodeRuntime.create({ sidecar: this.#sidecar, tenant, snapshot });
  }

  #base(tenant: string): Promise<NodeRuntime> {
    const known = this.#bases.get(tenant);
    if (known !== undefined) return known;
    const made = makeBase(this.#sidecar, tenant);
    this.#bases.set(tenant, made);
    made.catch(() => this.#bases.delete(tenant));
    return made;
  }

  async #adopt(record: SandboxRecord, runtime: NodeRuntime, source?: Sandbox): Promise<void> {
    const sandbox = new Sandbox(record, runtime);
    if (source !== undefined) await sandbox.takeOver(source);
    this.#live.set(record.id, sandbox);
    this.#registry.addSandbox(record);
    this.#watchDeadline(sandbox, record.endAt);
  }

  async #resume(record: SandboxRecord, timeoutMs: number): Promise<void> {
    const { id, tenant } = record;
    const held = this.#live.get(id);
    if (held !== undefined) await held.runtime.resume();
    else {
      // An earlier start of the server paused the sandbox.
      const runtime = await this.#restore(tenant, record.snapshot as string);
      const sandbox = new Sandbox(record, runtime);
      await sandbox.programs.attach([]);
      this.#live.set(id, sandbox);
    }
    const endAt = Date.now() + timeoutMs;
    this.#registry.changeSandbox(id, { state: 'running', snapshot: undefined, epoch: this.#registry.epoch, endAt });
    this.#watchDeadline(this.#liveOf(id), endAt);
  }

  #setEnd(id: string, endAt: number): void {
    this.#registry.changeSandbox(id, { endAt });
    this.#watchDeadline(this.#liveOf(id), endAt);
  }

  #watchDeadline(sandbox: Sandbox, endAt: number): void {
    sandbox.setDeadline(endAt, () => {
      // The sandbox has left the registry before its end can fail.
      this.#expire(sandbox.id).catch((error: Error) => process.emitWarning(error));
    });
  }

  async #expire(id: string): Promise<void> {
    const record = this.#registry.sandbox(id);
    if (record === undefined) return;
    const isPaused = record.autoPause && (await this.pause(record.tenant, id).catch(() => false));
    if (!isPaused) await this.#end(id);
  }

  async #end(id: string): Promise<boolean> {
    const existed = this.#registry.removeSandbox(id);
    const sandbox = this.#live.get(id);
    this.#live.delete(id);
    await sandbox?.end();
    return existed;
  }

  #liveOf(id: string): Sandbox {
    const sandbox = this.#live.get(id);
    if (sandbox === undefined) throw notFound(id);
    return sandbox;
  }

  // Runs calls about one sandbox one after the other.
  #inTurn<T>(id: string, call: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(id) ?? Promise.resolve()).then(call, call);
    this.#turns.set(id, turn);
    const clear = (): void => {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    };
    turn.then(clear, clear);
    return turn;
  }
}

const notFound = (id: string): SandboxFailure => new SandboxFailure('sandbox-not-found', `The sandbox ${id} was not found`);
const notRunning = (id: string): SandboxFailure => new SandboxFailure('not-running', `The sandbox ${id} is not running`);

function noRoom(error: unknown): SandboxFailure {
  if (error instanceof SandboxFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new SandboxFailure('no-room', `The sandbox was not created: ${message}`, { cause: error });
}

async function quietly<T>(id: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isColdframeError(error, 'ERR_NOT_QUIET')) throw error;
    throw new SandboxFailure('not-quiet', `A program of the sandbox ${id} does not rest: ${error.message}`, { cause: error });
  }
}
