// The sandboxes of the server: create, find, change, pause, resume and end them.
//
// The registry decides which sandboxes exist. A sandbox leaves the registry before its runtime
// ends, so that every later list shows the end. Calls that pause, resume or copy one sandbox run
// one after the other. Next: `sandbox.ts`, `runtimes.ts`.

import type { NodeRuntime, Sidecar } from 'coldframe';
import type { Events } from '../events/events.js';
import type { Coordinator } from '../fleet/coordinator.js';
import { newSandboxId, newToken } from '../ids.js';
import type { EndReason, Lifecycle, PauseMode, SandboxRecord, VolumeMount } from '../registry/records.js';
import type { Registry } from '../registry/registry.js';
import { type Built, buildOf } from '../templates/references.js';
import { BASE, isBase } from './base.js';
import { notFound, notRunning, SandboxFailure } from './failure.js';
import { checkNetwork, type NetworkConfig } from './network.js';
import { discard, keep, quietly } from './pausing.js';
import type { Quotas } from './quotas.js';
import { notMade, type Runtimes } from './runtimes.js';
import { Sandbox } from './sandbox.js';
import { Turns } from './turns.js';

/** The wish for a new sandbox. */
export interface NewSandbox extends Lifecycle {
  tenant: string;
  template: string;
  timeoutMs: number;
  metadata: Record<string, string>;
  env: Record<string, string>;
  network: NetworkConfig;
  volumeMounts: readonly VolumeMount[];
}

/** A copy of a sandbox, or the reason why the copy is missing. */
export type Fork = { record: SandboxRecord } | { failure: SandboxFailure };

/** The parts of the server that sandboxes use. */
export interface SandboxParts {
  registry: Registry;
  sidecar: Sidecar;
  runtimes: Runtimes;
  quotas: Quotas;
  events: Events;
  coordinator: Coordinator;
}

/** The least time of a sandbox that a request has resumed. */
const WOKEN_MS = 300_000;

const ENDS: Readonly<Record<EndReason, string>> = {
  killed: 'it was killed',
  timeout: 'its time was over',
  restart: 'it ended when the server was restarted',
};

/** The sandboxes of one server. */
export class Sandboxes {
  readonly #parts: SandboxParts;
  readonly #live = new Map<string, Sandbox>();
  readonly #turns = new Turns();
  #isDraining = false;

  constructor(parts: SandboxParts) {
    this.#parts = parts;
  }

  /** Creates a sandbox from a template or a snapshot. */
  async create(wish: NewSandbox): Promise<SandboxRecord> {
    if (this.#isDraining) throw new SandboxFailure('draining', 'The server is about to end');
    checkNetwork(wish.network);
    return this.#parts.quotas.admit(wish.tenant, 1, () => this.#create(wish));
  }

  async #create({ template, timeoutMs, env, ...wish }: NewSandbox): Promise<SandboxRecord> {
    const { registry, runtimes } = this.#parts;
    const { build, alias } = isBase(template) ? { build: undefined, alias: template } : buildOf(registry, wish.tenant, template);
    let runtime: NodeRuntime;
    try {
      runtime = await (build === undefined ? runtimes.fromBase(wish) : runtimes.fromSnapshot(wish, build.snapshot));
    } catch (error) {
      throw notMade(error);
    }
    const startedAt = Date.now();
    const record: SandboxRecord = {
      ...wish,
      ...this.#fresh(startedAt, timeoutMs, wish.network),
      templateId: build?.templateId ?? BASE,
      buildId: build?.id,
      alias,
      state: 'running',
      env: { ...build?.env, ...env },
      user: build?.user ?? 'user',
      workdir: build?.workdir,
      pauseMode: undefined,
      snapshot: undefined,
      fileMetadata: build?.fileMetadata ?? {},
    };
    await this.#adopt(record, runtime, build);
    return record;
  }

  /** Returns a sandbox of a tenant. */
  find(tenant: string, id: string): SandboxRecord {
    const { registry, coordinator } = this.#parts;
    const record = registry.sandboxes.get(id);
    if (record?.tenant === tenant) return record;
    const place = coordinator.locate(id);
    if (typeof place === 'object') throw new SandboxFailure('not-here', `The sandbox ${id} is at ${place.url}`);
    const ended = registry.sandboxes.ended(id);
    throw notFound(id, ended?.tenant === tenant ? ENDS[ended.reason] : undefined);
  }

  /** Returns the running sandbox with an id of any tenant, or `undefined`. */
  running(id: string): { record: SandboxRecord; sandbox: Sandbox } | undefined {
    const sandbox = this.#live.get(id);
    const record = sandbox && this.#parts.registry.sandboxes.get(id);
    return record?.state === 'running' && sandbox !== undefined ? { record, sandbox } : undefined;
  }

  /** Returns the running sandbox of a tenant with an id. */
  live(tenant: string, id: string): { record: SandboxRecord; sandbox: Sandbox } {
    const record = this.find(tenant, id);
    const sandbox = this.#live.get(id);
    if (record.state !== 'running' || sandbox === undefined) throw notRunning(id);
    return { record, sandbox };
  }

  /** The sandboxes of this process, with their tokens. A paused sandbox may be among them. */
  get held(): Iterable<Sandbox> {
    return this.#live.values();
  }

  /** The number of sandboxes of this process. */
  get size(): number {
    return this.#live.size;
  }

  /** Returns a paused sandbox of any tenant that requests resume, or `undefined`. */
  asleep(id: string): SandboxRecord | undefined {
    const record = this.#parts.registry.sandboxes.get(id);
    return record?.state === 'paused' && record.autoResume ? record : undefined;
  }

  /** Resumes a paused sandbox that a request has named. */
  async wake(id: string): Promise<{ record: SandboxRecord; sandbox: Sandbox } | undefined> {
    return this.#turns.run(id, async () => {
      const record = this.#parts.registry.sandboxes.get(id);
      if (record?.state === 'paused') await this.#resume(record, Math.max(WOKEN_MS, record.timeoutMs));
      return this.running(id);
    });
  }

  /** Ends a sandbox. Returns whether the sandbox existed. */
  async kill(tenant: string, id: string): Promise<boolean> {
    const record = this.#parts.registry.sandboxes.get(id);
    if (record?.tenant === tenant) return this.#end(record, 'killed');
    this.#throwElsewhere(id);
    return false;
  }

  /** Sets the end of a sandbox to `timeoutMs` from now. With 0 or less, the sandbox ends now. */
  async setTimeout(tenant: string, id: string, timeoutMs: number): Promise<void> {
    const { record } = this.live(tenant, id);
    this.#setEnd(record, timeoutMs);
  }

  /** Moves the end of a sandbox to `timeoutMs` from now, unless the end is later already. */
  extend(record: SandboxRecord, timeoutMs: number): void {
    if (timeoutMs > (this.#live.get(record.id)?.leftMs ?? 0)) this.#setEnd(record, timeoutMs);
  }

  /** Resumes a paused sandbox, and extends its time. Returns whether the sandbox was paused. */
  async connect(tenant: string, id: string, timeoutMs: number): Promise<{ record: SandboxRecord; wasPaused: boolean }> {
    return this.#turns.run(id, async () => {
      const record = this.find(tenant, id);
      const wasPaused = record.state === 'paused';
      if (wasPaused) await this.#resume(record, timeoutMs);
      else this.extend(record, timeoutMs);
      return { record: this.find(tenant, id), wasPaused };
    });
  }

  /**
   * Pauses a sandbox on disk, or in memory if a program does not rest. Returns `false` if the
   * sandbox is paused already.
   */
  async pause(tenant: string, id: string, mode: PauseMode): Promise<boolean> {
    return this.#turns.run(id, async () => {
      if (this.find(tenant, id).state === 'paused') return false;
      const { sidecar, registry, quotas, events } = this.#parts;
      quotas.checkPaused(tenant);
      const { sandbox, record } = this.live(tenant, id);
      const snapshot = await keep(sandbox, mode);
      sandbox.clearDeadline();
      sandbox.endStreams();
      const fileMetadata = Object.fromEntries(sandbox.fileMetadata);
      registry.sandboxes.change(id, { state: 'paused', pauseMode: mode, snapshot, fileMetadata });
      if (mode === 'filesystem') {
        this.#live.delete(id);
        await sandbox.end();
      }
      // A kill during the pause has removed the sandbox.
      if (registry.sandboxes.get(id) === undefined) await discard(sidecar, tenant, { snapshot });
      else events.record('paused', record, { mode, ...(snapshot === undefined ? { frozen: true } : {}) });
      return true;
    });
  }

  /** Runs `call` about a running sandbox, while no other call pauses or copies the sandbox. */
  whileRunning<T>(tenant: string, id: string, call: (sandbox: Sandbox, record: SandboxRecord) => Promise<T>): Promise<T> {
    return this.#turns.run(id, () => {
      const { sandbox, record } = this.live(tenant, id);
      return call(sandbox, record);
    });
  }

  /** Replaces the connections out of a running sandbox. */
  async updateNetwork(tenant: string, id: string, network: NetworkConfig): Promise<void> {
    checkNetwork(network);
    await this.whileRunning(tenant, id, async (sandbox, record) => {
      const { allowPublicTraffic, maskRequestHost } = record.network;
      const changed = { ...network, allowPublicTraffic, maskRequestHost };
      try {
        await this.#parts.runtimes.update(sandbox.runtime, { ...record, network: changed });
      } catch (error) {
        throw notMade(error);
      }
      this.#parts.registry.sandboxes.change(id, { network: changed });
      this.#parts.events.record('updated', record, { network: true });
    });
  }

  /** Makes copies of a running sandbox. */
  async fork(tenant: string, id: string, count: number, timeoutMs: number): Promise<Fork[]> {
    if (this.#isDraining) throw new SandboxFailure('draining', 'The server is about to end');
    return this.#parts.quotas.admit(tenant, count, () =>
      this.whileRunning(tenant, id, async (sandbox, source) => {
        const settled = await quietly(id, () => sandbox.runtime.clone(count, { settle: true }));
        return Promise.all(settled.map((one) => this.#forked(source, sandbox, one, timeoutMs)));
      }),
    );
  }

  /** Refuses new sandboxes from now on. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Pauses the running sandboxes whose clients want a pause at the end of their time. */
  async pauseAll(): Promise<void> {
    const running = [...this.#live.keys()].map((id) => this.running(id)?.record);
    for (const record of running) {
      if (record?.autoPause !== true) continue;
      // A sandbox that cannot be paused ends with the server.
      await this.pause(record.tenant, record.id, record.autoPauseMemory ? 'full' : 'filesystem').catch(() => false);
    }
  }

  /** Pauses the sandboxes that requests resume, and that had no request for `idleMs`. */
  async pauseIdle(idleMs: number): Promise<void> {
    for (const { id, idleMs: since } of [...this.#live.values()]) {
      const record = since < idleMs ? undefined : this.running(id)?.record;
      // A program that never rests is tried again later.
      if (record?.autoResume === true) await this.pause(record.tenant, id, 'full').catch(() => false);
    }
  }

  /** Whether new sandboxes are refused. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Ends all runtimes. Paused sandboxes stay in the registry and on disk. */
  async close(): Promise<void> {
    this.drain();
    await Promise.all([...this.#live.values()].map((sandbox) => sandbox.end()));
    this.#live.clear();
  }

  #fresh(startedAt: number, timeoutMs: number, network: NetworkConfig) {
    const { coordinator } = this.#parts;
    return {
      id: newSandboxId(coordinator.home),
      epoch: coordinator.epoch,
      accessToken: newToken(),
      trafficToken: network.allowPublicTraffic === false ? newToken() : undefined,
      startedAt,
      timeoutMs,
      endAt: startedAt + timeoutMs,
    };
  }

  async #forked(source: SandboxRecord, from: Sandbox, one: PromiseSettledResult<NodeRuntime>, timeoutMs: number): Promise<Fork> {
    if (one.status === 'rejected') return { failure: notMade(one.reason) };
    const record = { ...source, ...this.#fresh(Date.now(), timeoutMs, source.network) };
    await this.#adopt(record, one.value, undefined, from);
    return { record };
  }

  async #adopt(record: SandboxRecord, runtime: NodeRuntime, build: Built | undefined, source?: Sandbox): Promise<void> {
    const sandbox = new Sandbox(record, runtime);
    try {
      if (source !== undefined) await sandbox.takeOver(source);
      else if (build !== undefined) await sandbox.programs.attach([]);
      this.#parts.registry.sandboxes.add(record);
    } catch (error) {
      await sandbox.end();
      throw error;
    }
    this.#live.set(record.id, sandbox);
    this.#watchDeadline(sandbox, record.endAt);
    this.#parts.events.record('created', record, source === undefined ? {} : { forkedFrom: source.id });
  }

  async #resume(record: SandboxRecord, timeoutMs: number): Promise<void> {
    const { registry, sidecar, coordinator, events, quotas } = this.#parts;
    await quotas.admit(record.tenant, 1, async () => {
      const held = this.#live.get(record.id);
      if (held === undefined) await this.#restore(record);
      else await held.runtime.resume();
    });
    const endAt = Date.now() + timeoutMs;
    const running = {
      state: 'running',
      snapshot: undefined,
      pauseMode: undefined,
      epoch: coordinator.epoch,
      endAt,
      timeoutMs,
    } as const;
    registry.sandboxes.change(record.id, running);
    await discard(sidecar, record.tenant, record);
    const sandbox = this.#live.get(record.id);
    // A kill during the resume has removed the sandbox.
    if (registry.sandboxes.get(record.id) === undefined || sandbox === undefined) {
      this.#live.delete(record.id);
      await sandbox?.end();
      throw notFound(record.id);
    }
    this.#watchDeadline(sandbox, endAt);
    events.record('resumed', record, { mode: record.pauseMode });
  }

  // Restores a sandbox whose runtime this process does not hold.
  async #restore(record: SandboxRecord): Promise<void> {
    const runtime = await this.#parts.runtimes.fromSnapshot(record, record.snapshot as string);
    const sandbox = new Sandbox(record, runtime);
    await sandbox.programs.attach([]);
    this.#live.set(record.id, sandbox);
  }

  #setEnd(record: SandboxRecord, timeoutMs: number): void {
    const endAt = Date.now() + timeoutMs;
    this.#parts.registry.sandboxes.change(record.id, { endAt, timeoutMs });
    const sandbox = this.#live.get(record.id);
    if (sandbox !== undefined) this.#watchDeadline(sandbox, endAt);
    this.#parts.events.record('updated', record, { timeoutMs });
  }

  #watchDeadline(sandbox: Sandbox, endAt: number): void {
    sandbox.setDeadline(endAt - Date.now(), () => {
      // The sandbox has left the registry before its end can fail.
      this.#expire(sandbox.id).catch((error: Error) => process.emitWarning(error));
    });
  }

  async #expire(id: string): Promise<void> {
    const record = this.#parts.registry.sandboxes.get(id);
    if (record === undefined) return;
    const mode = record.autoPauseMemory ? 'full' : 'filesystem';
    const isPaused =
      record.autoPause &&
      (await this.pause(record.tenant, id, mode).then(
        () => true,
        () => false,
      ));
    if (!isPaused) await this.#end(record, 'timeout');
  }

  async #end(record: SandboxRecord, reason: EndReason): Promise<boolean> {
    const { registry, sidecar, events } = this.#parts;
    const existed = registry.sandboxes.end(record.id, reason, Date.now());
    if (existed) events.record('killed', record, { reason });
    const sandbox = this.#live.get(record.id);
    this.#live.delete(record.id);
    if (sandbox !== undefined) await sandbox.end();
    else if (record.state === 'paused') await discard(sidecar, record.tenant, record);
    return existed;
  }

  #throwElsewhere(id: string): void {
    const place = this.#parts.coordinator.locate(id);
    if (typeof place === 'object') throw new SandboxFailure('not-here', `The sandbox ${id} is at ${place.url}`);
  }
}
