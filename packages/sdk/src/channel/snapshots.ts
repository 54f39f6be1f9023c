// Snapshots over frames: take, roll back, clone, pause, resume, and the store. Messages, checks and
// requests are together here, because no other module uses them. `transports/embedded-snapshots.ts`
// is the counterpart for the addon.

import { protocolError } from '../errors/make.js';
import type { LimitWarningListener } from '../options/limits.js';
import type { Channel, OutputListener, StartListener } from './channel.js';
import { done, fields, natural, outcome, programs, text, wireError, wrong } from './checks.js';
import { Kind, type RestoredProgram, type Streams, type WireBinding, type WireError, type WireMount } from './messages.js';
import type { Outcome } from './outcome.js';
import type { Warnings } from './warnings.js';

/** snapshot.take. */
export interface SnapshotTake {
  runtime: number;
  name?: string | undefined;
  labels?: Readonly<Record<string, string>> | undefined;
  /** Whether the snapshot is written to disk before the reply. */
  disk?: boolean | undefined;
  timeoutMs?: number | undefined;
}

/** runtime.rollback. */
export interface RuntimeRollback {
  runtime: number;
  snapshot: string;
}

/** runtime.clone. */
export interface RuntimeClone {
  runtime: number;
  count: number;
  timeoutMs?: number | undefined;
  /** Whether successful clones stay when another fails. */
  settle?: boolean | undefined;
  warn?: boolean | undefined;
  mounts?: readonly WireMount[] | undefined;
  /** Bindings that restored programs may call at once. */
  bindings?: readonly WireBinding[] | undefined;
}

/** runtime.pause. */
export interface RuntimePause {
  runtime: number;
  timeoutMs?: number | undefined;
  /** Whether the store may evict the snapshot once the sidecar has ended. */
  temporary?: boolean | undefined;
}

/** runtime.resume. */
export interface RuntimeResume {
  runtime: number;
  warn?: boolean | undefined;
  mounts?: readonly WireMount[] | undefined;
  /** Bindings that restored programs may call at once. */
  bindings?: readonly WireBinding[] | undefined;
}

/**
 * snapshot.get, snapshot.delete, snapshot.persist and snapshot.digest: an id, a digest or a name.
 */
export interface SnapshotNamed {
  tenant: string;
  snapshot: string;
}

/** snapshot.export. */
export interface SnapshotExport extends SnapshotNamed {
  path: string;
}

/** snapshot.import. */
export interface SnapshotImport {
  tenant: string;
  path: string;
}

/**
 * process.attach: the reply is sent when the program has ended. Captured output precedes streamed
 * output.
 */
export interface ProcessAttach {
  runtime: number;
  pid: number;
  stream?: Streams | undefined;
}

/** The description of a snapshot. */
export interface WireSnapshot {
  id: string;
  parent?: string;
  name?: string;
  labels: Record<string, string>;
  tenant: string;
  createdMs: number;
  image: string;
  size: number;
  programs: number;
  stored: 'memory' | 'disk' | 'both';
}

/** All snapshots of a tenant, and damaged files. */
export interface SnapshotEntries {
  snapshots: WireSnapshot[];
  damaged: { path: string; reason: string }[];
}

/** The reply to snapshot.list. `more`: further snapshots follow. */
export interface SnapshotPage extends SnapshotEntries {
  more?: boolean;
}

/** An entry of the reply to runtime.clone: a runtime, or a failure. */
export interface RuntimeCopy {
  runtime?: number;
  programs: RestoredProgram[];
  failure?: WireError;
}

/** The calls of a connection for snapshots. */
export interface SnapshotLink {
  take(take: SnapshotTake): Promise<WireSnapshot>;
  rollback(rollback: RuntimeRollback): Promise<RestoredProgram[]>;
  /** With `warn`, the clones' limit warnings go to `onWarning`. */
  clone(clone: RuntimeClone, onWarning?: LimitWarningListener): Promise<RuntimeCopy[]>;
  pause(pause: RuntimePause): Promise<WireSnapshot>;
  resume(resume: RuntimeResume): Promise<RestoredProgram[]>;
  list(tenant: string): Promise<SnapshotEntries>;
  get(which: SnapshotNamed): Promise<WireSnapshot>;
  delete(which: SnapshotNamed): Promise<void>;
  export(which: SnapshotExport): Promise<void>;
  import(which: SnapshotImport): Promise<WireSnapshot>;
  persist(which: SnapshotNamed): Promise<void>;
  digest(which: SnapshotNamed): Promise<string>;
  /** As `start` of the connection. */
  attach(id: number, attach: ProcessAttach, onOutput?: OutputListener, onStarted?: StartListener): Promise<Outcome>;
}

/** Implements the calls as requests. */
export function snapshotsOver({ request, nextId }: Channel, warnings: Warnings): SnapshotLink {
  return {
    take: (take) => request(Kind.snapshotTake, nextId(), take, snapshot),
    rollback: (rollback) => request(Kind.runtimeRollback, nextId(), rollback, restoredPrograms),
    clone: (clone, onWarning) =>
      request(Kind.runtimeClone, nextId(), clone, (body) => {
        const copies = runtimeCopies(body);
        // Registered here, because the next frame may be a warning.
        for (const { runtime } of copies) if (runtime !== undefined) warnings.listen(runtime, onWarning);
        return copies;
      }),
    pause: (pause) => request(Kind.runtimePause, nextId(), pause, snapshot),
    resume: (resume) => request(Kind.runtimeResume, nextId(), resume, restoredPrograms),
    list: async (tenant) => {
      const page = (last?: WireSnapshot) => {
        const after = last && { createdMs: last.createdMs, id: last.id };
        return request(Kind.snapshotList, nextId(), { tenant, after }, snapshotEntries);
      };
      const { snapshots, damaged, more } = await page();
      // The snapshots of a tenant may not fit into one frame.
      for (let isIncomplete = more; isIncomplete; ) {
        const next = await page(snapshots.at(-1) as WireSnapshot);
        snapshots.push(...next.snapshots);
        isIncomplete = next.more;
      }
      return { snapshots, damaged };
    },
    get: (which) => request(Kind.snapshotGet, nextId(), which, snapshot),
    delete: (which) => request(Kind.snapshotDelete, nextId(), which, done),
    export: (which) => request(Kind.snapshotExport, nextId(), which, done),
    import: (which) => request(Kind.snapshotImport, nextId(), which, snapshot),
    persist: (which) => request(Kind.snapshotPersist, nextId(), which, done),
    digest: (which) => request(Kind.snapshotDigest, nextId(), which, snapshotDigest),
    attach: (id, attach, onOutput, onStarted) => request(Kind.processAttach, id, attach, outcome, onOutput, onStarted),
  };
}

const STORED: ReadonlySet<unknown> = new Set(['memory', 'disk', 'both']);

/** Checks the description of a snapshot. */
export function snapshot(body: unknown): WireSnapshot {
  const map = fields(body, 'reply');
  for (const field of ['id', 'tenant', 'image']) text(map, 'reply', field);
  for (const field of ['parent', 'name']) if (map[field] !== undefined) text(map, 'reply', field);
  for (const field of ['createdMs', 'size', 'programs']) natural(map, 'reply', field);
  const labels = fields(map['labels'], 'reply.labels');
  if (!Object.values(labels).every((value) => typeof value === 'string')) throw wrong('reply', 'labels', 'a map of text');
  if (!STORED.has(map['stored'])) throw wrong('reply', 'stored', 'memory, disk or both');
  return map as unknown as WireSnapshot;
}

/** The reply to snapshot.list. */
export function snapshotEntries(body: unknown): SnapshotPage {
  const map = fields(body, 'reply');
  const { snapshots, damaged, more = false } = map as { [name in keyof SnapshotPage]: unknown };
  if (!Array.isArray(snapshots) || !Array.isArray(damaged)) throw protocolError('reply is not lists of snapshots');
  snapshots.forEach(snapshot);
  for (const one of damaged) {
    const entry = fields(one, 'reply.damaged');
    text(entry, 'reply.damaged', 'path');
    text(entry, 'reply.damaged', 'reason');
  }
  // An empty page with `more` would make an endless list.
  if (typeof more !== 'boolean' || (more && snapshots.length === 0)) throw wrong('reply', 'more', 'true or false');
  return map as unknown as SnapshotPage;
}

/** The reply to snapshot.digest. */
export function snapshotDigest(body: unknown): string {
  const map = fields(body, 'reply');
  text(map, 'reply', 'digest');
  return map['digest'] as string;
}

/** The reply to runtime.rollback and runtime.resume. */
export function restoredPrograms(body: unknown): RestoredProgram[] {
  return programs(fields(body, 'reply'));
}

/** The reply to runtime.clone. */
export function runtimeCopies(body: unknown): RuntimeCopy[] {
  const { copies } = fields(body, 'reply');
  if (!Array.isArray(copies)) throw wrong('reply', 'copies', 'a list');
  for (const copy of copies) {
    const map = fields(copy, 'reply.copies');
    programs(map);
    if (map['failure'] !== undefined) wireError(map['failure'], 'reply.copies.failure');
    else natural(map, 'reply.copies', 'runtime');
  }
  return copies as RuntimeCopy[];
}
