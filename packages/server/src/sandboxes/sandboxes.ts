// The sandboxes of the server: create, find, change, pause, resume and end them.
//
// The registry decides which sandboxes exist. A sandbox leaves the registry before its runtime
// ends, so that every later list shows the end. Calls that pause, resume or copy one sandbox run
// one after the other. Next: `sandbox.ts`, `runtimes.ts`.

import type { NodeRuntime } from 'coldframe';
import type { Tokens } from '../access/tokens.js';
import type { Events } from '../events/events.js';
import type { Coordinator } from '../fleet/coordinator.js';
import { homeOf, newSandboxId, SANDBOX_ID_FORM } from '../ids.js';
import type { EndReason, Lifecycle, PauseMode, SandboxRecord, VolumeMount } from '../registry/records.js';
import type { Registry } from '../registry/registry.js';
import { type Built, buildOf } from '../templates/references.js';
import type { Admission } from './admission.js';
import { BASE, isBase } from './base.js';
import { notFound, notRunning, SandboxFailure } from './failure.js';
import { FrozenSandboxes } from './frozen.js';
import type { Manifests } from './manifests.js';
import { checkNetwork, type NetworkConfig } from './network.js';
import { keep, quietly, restored } from './pausing.js';
import type { Quotas } from './quotas.js';
import { notMade, type Runtimes } from './runtimes.js';
import { Sandbox } from './sandbox.js';
import { Turns } from './turns.js';

/** The wish for a new sandbox. */
export interface NewSandbox extends Lifecycle {
  tenant: string;
  /** The id that the caller has chosen, or `undefined` for a new id. */
  id?: string | undefined;
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
  runtimes: Runtimes;
  quotas: Quotas;
  events: Events;
  coordinator: Coordinator;
  tokens: Tokens;
  manifests: Manifests;
  admission: Admission;
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
  readonly #frozen = new FrozenSandboxes((id, restMs) => this.#storeFrozen(id, restMs));
  /** Ids that callers have chosen, until their sandboxes exist. */
  readonly #chosen = new Set<string>();

  constructor(parts: SandboxParts) {
    this.#parts = parts;
  }

  /** Creates a sandbox from a template or a snapshot. */
  async create(wish: NewSandbox): Promise<SandboxRecord> {
    const { admission, quotas } = this.#parts;
    admission.check(this.#live.size);
    checkNetwork(wish.network);
    const create = (): Promise<SandboxRecord> => quotas.admit(wish.tenant, 1, () => this.#create(wish));
    return wish.id === undefined ? create() : this.#withId(wish.id, create);
  }

  // Runs `create` while no other call may choose the id.
  async #withId<T>(id: string, create: () => Promise<T>): Promise<T> {
    const { registry, coordinator } = this.#parts;
    if (homeOf(id) !== coordinator.home) {
      throw new SandboxFailure('invalid', `${id} is no id of a sandbox of this server: ${SANDBOX_ID_FORM} (${coordinator.home})`);
    }
    const isTaken =
      this.#chosen.has(id) || registry.sandboxes.get(id) !== undefined || registry.sandboxes.ended(id) !== undefined;
    if (isTaken) throw new SandboxFailure('id-taken', `A sandbox with the id ${id} exists or has existed`);
    this.#chosen.add(id);
    try {
      return await create();
    } finally {
      this.#chosen.delete(id);
    }
  }

  async #create({ id, template, timeoutMs, env, ...wish }: NewSandbox): Promise<SandboxRecord> {
    const { registry, runtimes } = this.#parts;
    const { build, alias } = isBase(template) ? { build: undefined, alias: template } : buildOf(registry, wish.tenant, template);
    let runtime: NodeRuntime;
    try {
      runtime = await (build === undefined
        ? runtimes.fromBase(wish)
        : runtimes.fromSnapshot(wish, build.snapshot, build.isImported));
    } catch (error) {
      throw notMade(error);
    }
    const startedAt = Date.now();
    const record: SandboxRecord = {
      ...wish,
      ...this.#fresh(wish, startedAt, timeoutMs, id),
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

  /** Returns whether a sandbox of any tenant is paused. */
  isPaused(id: string): boolean {
    return this.#parts.registry.sandboxes.get(id)?.state === 'paused';
  }

  /** Returns the milliseconds until the end, or for a paused sandbox until the end that it had. */
  leftMs({ id, state, leftMs = 0 }: SandboxRecord): number {
    return state === 'paused' ? leftMs : Math.max(0, this.#live.get(id)?.leftMs ?? 0);
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
      else {
        const renewed = this.#renewed(record);
        if (renewed.accessToken !== undefined) await this.#changeTokens(record, renewed);
        this.extend(record, timeoutMs);
      }
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
      const { registry, quotas, events } = this.#parts;
      quotas.checkPaused(tenant);
      const { sandbox, record } = this.live(tenant, id);
      const snapshot = await keep(sandbox, mode);
      const leftMs = Math.max(0, sandbox.leftMs);
      sandbox.clearDeadline();
      sandbox.endStreams();
      const fileMetadata = Object.fromEntries(sandbox.fileMetadata);
      const paused = { state: 'paused', pauseMode: mode, snapshot, fileMetadata, leftMs } as const;
      await this.#changePaused(record, paused);
      if (snapshot === undefined) this.#frozen.add(id);
      if (mode === 'filesystem') {
        this.#live.delete(id);
        await sandbox.end();
      }
      // A kill during the pause has removed the sandbox.
      if (registry.sandboxes.get(id) === undefined) await this.#discard(tenant, snapshot);
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
    this.#parts.admission.check(this.#live.size + count - 1);
    return this.#parts.quotas.admit(tenant, count, () =>
      this.whileRunning(tenant, id, async (sandbox, source) => {
        const settled = await quietly(id, () => sandbox.runtime.clone(count, { settle: true }));
        return Promise.all(settled.map((one) => this.#forked(source, sandbox, one, timeoutMs)));
      }),
    );
  }

  /** Revokes all tokens of a sandbox, and returns the sandbox with new tokens. */
  async revokeTokens(tenant: string, id: string): Promise<SandboxRecord> {
    return this.#turns.run(id, async () => {
      const record = this.find(tenant, id);
      const tokenEpoch = (record.tokenEpoch ?? 0) + 1;
      await this.#changeTokens(record, { tokenEpoch, ...this.#parts.tokens.issueAll(record, tokenEpoch) });
      this.#live.get(id)?.endStreams();
      this.#parts.events.record('updated', record, { tokens: 'revoked' });
      return this.find(tenant, id);
    });
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

  /** Ends all runtimes. Paused sandboxes stay in the registry and on disk. */
  async close(): Promise<void> {
    await this.#frozen.close();
    await Promise.all([...this.#live.values()].map((sandbox) => sandbox.end()));
    this.#live.clear();
  }

  #fresh(wish: Pick<SandboxRecord, 'tenant' | 'network'>, startedAt: number, timeoutMs: number, chosen?: string) {
    const { coordinator } = this.#parts;
    const id = chosen ?? newSandboxId(coordinator.home);
    return {
      id,
      epoch: coordinator.epoch,
      ...this.#parts.tokens.issueAll({ ...wish, id }, 0),
      tokenEpoch: 0,
      startedAt,
      timeoutMs,
      endAt: startedAt + timeoutMs,
    };
  }

  // Returns the tokens of a sandbox, renewed before they expire.
  #renewed(record: SandboxRecord): Partial<SandboxRecord> {
    const { tokens } = this.#parts;
    return tokens.isOld(record.accessToken) ? tokens.issueAll(record, record.tokenEpoch ?? 0) : {};
  }

  async #changeTokens(record: SandboxRecord, change: Partial<SandboxRecord>): Promise<void> {
    await this.#changePaused(record, change);
    const sandbox = this.#live.get(record.id);
    if (sandbox !== undefined && change.accessToken !== undefined) sandbox.accessToken = change.accessToken;
  }

  // Changes a sandbox, with its manifest if the sandbox is paused on disk. The manifest is first,
  // because a manifest without a record is removed by the next start.
  async #changePaused(record: SandboxRecord, change: Partial<SandboxRecord>): Promise<void> {
    const changed = { ...record, ...change };
    if (changed.snapshot !== undefined) await this.#parts.manifests.keepSandbox(changed);
    this.#parts.registry.sandboxes.change(record.id, change);
  }

  async #discard(tenant: string, snapshot: string | undefined): Promise<void> {
    if (snapshot !== undefined) await this.#parts.manifests.discard(tenant, snapshot);
  }

  // Tries to write a frozen sandbox to disk. Returns whether no further try is needed.
  #storeFrozen(id: string, restMs: number): Promise<boolean> {
    return this.#turns.run(id, async () => {
      const { registry, events } = this.#parts;
      const record = registry.sandboxes.get(id);
      const sandbox = this.#live.get(id);
      if (record?.state !== 'paused' || record.snapshot !== undefined || sandbox === undefined) return true;
      const snapshot = await keep(sandbox, 'full', restMs);
      if (snapshot === undefined) return false;
      await this.#changePaused(record, { snapshot });
      // A kill during the pause has removed the sandbox.
      if (registry.sandboxes.get(id) === undefined) await this.#discard(record.tenant, snapshot);
      else events.record('updated', record, { frozen: false });
      return true;
    });
  }

  async #forked(source: SandboxRecord, from: Sandbox, one: PromiseSettledResult<NodeRuntime>, timeoutMs: number): Promise<Fork> {
    if (one.status === 'rejected') return { failure: notMade(one.reason) };
    const record = { ...source, ...this.#fresh(source, Date.now(), timeoutMs) };
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
    const { registry, coordinator, events, quotas } = this.#parts;
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
      ...this.#renewed(record),
    } as const;
    registry.sandboxes.change(record.id, running);
    await this.#discard(record.tenant, record.snapshot);
    const sandbox = this.#live.get(record.id);
    // A kill during the resume has removed the sandbox.
    if (registry.sandboxes.get(record.id) === undefined || sandbox === undefined) {
      this.#live.delete(record.id);
      await sandbox?.end();
      throw notFound(record.id);
    }
    if (running.accessToken !== undefined) sandbox.accessToken = running.accessToken;
    this.#watchDeadline(sandbox, endAt);
    events.record('resumed', record, { mode: record.pauseMode });
  }

  // Restores a sandbox whose runtime this process does not hold.
  async #restore(record: SandboxRecord): Promise<void> {
    const runtime = await restored(record.id, () => this.#parts.runtimes.fromSnapshot(record, record.snapshot as string));
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
    const { registry, events } = this.#parts;
    const existed = registry.sandboxes.end(record.id, reason, Date.now());
    if (existed) events.record('killed', record, { reason });
    const sandbox = this.#live.get(record.id);
    this.#live.delete(record.id);
    // The sandbox has ended, even if a part of its state remains. The next start removes the part.
    const warn = (error: Error): void => process.emitWarning(error);
    await sandbox?.end().catch(warn);
    await this.#discard(record.tenant, record.snapshot).catch(warn);
    return existed;
  }

  #throwElsewhere(id: string): void {
    const place = this.#parts.coordinator.locate(id);
    if (typeof place === 'object') throw new SandboxFailure('not-here', `The sandbox ${id} is at ${place.url}`);
  }
}
