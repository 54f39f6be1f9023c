// Snapshots, over frames: a runtime as a value, what can be made of it, and the store that keeps it. The messages, their checks and the requests
// stand together here, because nothing else knows them. The addon's side is `transports/embedded-snapshots.ts`.

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
  /** Whether it is written to disk before it is answered. */
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
  /** Whether copies that can be made stay when another cannot. */
  settle?: boolean | undefined;
  warn?: boolean | undefined;
  mounts?: readonly WireMount[] | undefined;
  /** What programs may call from the first moment on. */
  bindings?: readonly WireBinding[] | undefined;
}

/** runtime.pause. */
export interface RuntimePause {
  runtime: number;
  timeoutMs?: number | undefined;
  /** What it sleeps on may make room for others when the sidecar has ended. */
  temporary?: boolean | undefined;
}

/** runtime.resume. */
export interface RuntimeResume {
  runtime: number;
  warn?: boolean | undefined;
  mounts?: readonly WireMount[] | undefined;
  /** What programs may call from the first moment on. */
  bindings?: readonly WireBinding[] | undefined;
}

/** snapshot.get, snapshot.delete, snapshot.persist and snapshot.digest: an id, a digest or a name. */
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

/** process.attach: the reply comes when the program has ended; what was captured so far comes before what is streamed. */
export interface ProcessAttach {
  runtime: number;
  pid: number;
  stream?: Streams | undefined;
}

/** A snapshot, as far as the sidecar tells of it. */
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

/** What snapshot.list gives. */
export interface SnapshotEntries {
  snapshots: WireSnapshot[];
  damaged: { path: string; reason: string }[];
}

/** The reply to snapshot.list: with `more`, others follow the last one. */
export interface SnapshotPage extends SnapshotEntries {
  more?: boolean;
}

/** An entry of the reply to runtime.clone: a runtime, or why there is none. */
export interface RuntimeCopy {
  runtime?: number;
  programs: RestoredProgram[];
  failure?: WireError;
}

/** What a connection can do with snapshots. */
export interface SnapshotLink {
  take(take: SnapshotTake): Promise<WireSnapshot>;
  rollback(rollback: RuntimeRollback): Promise<RestoredProgram[]>;
  /** With `warn` the copies' warnings go to `onWarning`. */
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

/** They are requests. */
export function snapshotsOver({ request, nextId }: Channel, warnings: Warnings): SnapshotLink {
  return {
    take: (take) => request(Kind.snapshotTake, nextId(), take, snapshot),
    rollback: (rollback) => request(Kind.runtimeRollback, nextId(), rollback, restoredPrograms),
    clone: (clone, onWarning) =>
      request(Kind.runtimeClone, nextId(), clone, (body) => {
        const copies = runtimeCopies(body);
        // At once: the first warning may be in the next frame.
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
      // All that a tenant has can be more than a frame holds.
      for (let goesOn = more; goesOn; ) {
        const next = await page(snapshots.at(-1) as WireSnapshot);
        snapshots.push(...next.snapshots);
        goesOn = next.more;
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

/** A snapshot. */
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
  // Behind nothing nothing follows: a list that never ends.
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
