// Exports snapshots as streams, and imports streams as snapshots of their caller's tenant.
//
// An exported file is removed from its folder before its first byte is sent, and exists as long as
// its stream. An imported file is removed when the SDK has copied and checked the bytes.

import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isColdframeError, type Sidecar, type Snapshot } from 'coldframe';
import { TooLarge } from '../fleet/blobs.js';
import type { Registry } from '../registry/registry.js';
import { buildOf, DEFAULT_TAG, type Reference, referenceOf } from '../templates/references.js';
import type { Admission } from './admission.js';
import { addSnapshot, knownSnapshot, type Taken } from './checkpoints.js';
import { SandboxFailure } from './failure.js';
import type { Manifests } from './manifests.js';
import type { Quotas } from './quotas.js';
import { damaged, encodeFacts, type Facts, openFile } from './snapshot-file.js';

/** Exports and imports of one tenant at a time. */
const MOST_TRANSFERS = 4;
const READ_BYTES = 256 << 10;

/** The parts of the server that exports and imports use. */
export interface SnapshotFileParts {
  registry: Registry;
  quotas: Quotas;
  manifests: Manifests;
  admission: Admission;
  sidecar: Sidecar;
  /** The folder of files that are being sent or received. */
  folder: string;
  /** Bytes of an imported file at most. */
  maxBytes: number;
}

/** A snapshot as a stream of a known length. */
export interface ExportedFile {
  size: number;
  stream: Readable;
}

/** The files of snapshots that move between servers. */
export class SnapshotFiles {
  readonly #parts: SnapshotFileParts;
  readonly #transfers = new Map<string, number>();
  /** The snapshots that are being imported. */
  readonly #importing = new Set<string>();

  constructor(parts: SnapshotFileParts) {
    this.#parts = parts;
  }

  /** Bytes of an imported file at most. */
  get maxBytes(): number {
    return this.#parts.maxBytes;
  }

  /** Exports a snapshot of a tenant. The caller reads or destroys the stream. */
  async export(tenant: string, reference: string): Promise<ExportedFile> {
    const { registry, sidecar } = this.#parts;
    const { build } = buildOf(registry, tenant, reference);
    const template = registry.templates.find(tenant, build.templateId);
    if (template?.kind !== 'snapshot') throw new SandboxFailure('snapshot-not-found', `${reference} is no snapshot`);
    const release = this.#begin(tenant);
    try {
      const kept = await stored(() => sidecar.snapshots.get(build.snapshot, { tenant }));
      const head = encodeFacts({
        version: 1,
        snapshot: { id: kept.id, image: kept.imageVersion, sha256: await kept.digest() },
        ...(template.name === undefined ? {} : { name: template.name }),
        tag: registry.templates.tags(template.id).find(({ buildId }) => buildId === build.id)?.tag ?? DEFAULT_TAG,
        env: build.env,
        user: build.user,
        ...(build.workdir === undefined ? {} : { workdir: build.workdir }),
        fileMetadata: build.fileMetadata,
      });
      const file = await this.#write(kept);
      const { size } = await file.stat();
      const body = file.createReadStream({ highWaterMark: READ_BYTES });
      const stream = Readable.from(joined(head, body), { objectMode: false, highWaterMark: READ_BYTES });
      stream.once('close', () => {
        body.destroy();
        release();
      });
      return { size: head.length + size, stream };
    } catch (error) {
      release();
      throw error;
    }
  }

  // The file has no name when this returns, so that the file ends with its reader.
  async #write(snapshot: Snapshot) {
    const path = await this.#newPath();
    try {
      await stored(() => snapshot.export(path));
      return await open(path, 'r');
    } finally {
      await rm(path, { force: true });
    }
  }

  /**
   * Imports a snapshot for a tenant. `name` replaces the name in the file. A snapshot with a known
   * name gets another build.
   *
   * @throws {TooLarge} if the file has more than `maxBytes`
   */
  async import(tenant: string, chunks: AsyncIterator<Buffer>, name: string | undefined): Promise<Taken> {
    const { registry, quotas, admission } = this.#parts;
    admission.check(0);
    quotas.checkTemplates(tenant);
    const release = this.#begin(tenant);
    try {
      const { facts, rest } = await openFile(chunks);
      const reference = referenceFor(tenant, facts, name);
      knownSnapshot(this.#parts, tenant, reference);
      const { id } = facts.snapshot;
      if (this.#importing.has(id) || registry.kept().snapshots.has(id)) {
        throw new SandboxFailure('id-taken', `The server has the snapshot ${id} already`);
      }
      this.#importing.add(id);
      try {
        return await this.#read(tenant, facts, rest, reference);
      } finally {
        this.#importing.delete(id);
      }
    } finally {
      release();
    }
  }

  async #read(tenant: string, facts: Facts, rest: AsyncIterable<Buffer>, reference: Reference | undefined): Promise<Taken> {
    const { sidecar, manifests, maxBytes } = this.#parts;
    const path = await this.#newPath();
    let imported: Snapshot;
    try {
      await received(() => pipeline(bounded(rest, maxBytes), createWriteStream(path, { mode: 0o600 })));
      imported = await accepted(() => sidecar.snapshots.import(path, { tenant }));
    } finally {
      await rm(path, { force: true });
    }
    try {
      if (imported.id !== facts.snapshot.id || (await imported.digest()) !== facts.snapshot.sha256) {
        throw damaged('its facts belong to another snapshot');
      }
      const { env, user, workdir, fileMetadata } = facts;
      // The limits of this server apply, because the file could name any limits.
      const build = { snapshot: imported.id, env, user, workdir, fileMetadata, isImported: true };
      return await addSnapshot(this.#parts, tenant, { reference, sandboxId: undefined, build });
    } catch (error) {
      await manifests.discard(tenant, imported.id);
      throw error;
    }
  }

  async #newPath(): Promise<string> {
    const { folder } = this.#parts;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return join(folder, `${randomUUID()}.part`);
  }

  #begin(tenant: string): () => void {
    const count = this.#transfers.get(tenant) ?? 0;
    if (count >= MOST_TRANSFERS) {
      throw new SandboxFailure('quota', `The tenant has ${MOST_TRANSFERS} exports and imports of snapshots already`);
    }
    this.#transfers.set(tenant, count + 1);
    return () => {
      const left = (this.#transfers.get(tenant) as number) - 1;
      if (left === 0) this.#transfers.delete(tenant);
      else this.#transfers.set(tenant, left);
    };
  }
}

async function* joined(head: Buffer, body: Readable): AsyncGenerator<Buffer, void> {
  yield head;
  yield* body;
}

function referenceFor(tenant: string, { name, tag }: Facts, wish: string | undefined): Reference | undefined {
  const text = wish ?? (name === undefined ? undefined : `${name}:${tag}`);
  const reference = text === undefined ? undefined : referenceOf(tenant, text);
  if (text !== undefined && reference === undefined) throw new SandboxFailure('invalid', `${text} is no name of a snapshot`);
  return reference;
}

async function* bounded(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer, void> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) throw new TooLarge(maxBytes);
    yield chunk;
  }
}

// Runs a call that reads a snapshot of the store.
async function stored<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (isColdframeError(error, 'ERR_SNAPSHOT_FILE')) throw noSpace(error);
    const isLost = ['ERR_SNAPSHOT_NOT_FOUND', 'ERR_SNAPSHOT_DAMAGED', 'ERR_SNAPSHOT_FOREIGN'];
    if (!isColdframeError(error) || !isLost.includes(error.code)) throw error;
    throw new SandboxFailure('state-lost', `The snapshot cannot be read: ${error.message}`, { cause: error });
  }
}

// Runs a call that writes a received file.
async function received(call: () => Promise<void>): Promise<void> {
  try {
    await call();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT') throw noSpace(error as Error);
    throw error;
  }
}

// Runs the import of a received file. Messages do not name the path of the file.
async function accepted<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (isColdframeError(error, 'ERR_SNAPSHOT_DAMAGED')) throw damaged(error.reason, error);
    if (isColdframeError(error, 'ERR_SNAPSHOT_FOREIGN') || isColdframeError(error, 'ERR_SNAPSHOT_EXISTS')) {
      const code = error.code === 'ERR_SNAPSHOT_FOREIGN' ? 'snapshot-foreign' : 'id-taken';
      throw new SandboxFailure(code, error.message, { cause: error });
    }
    if (isColdframeError(error, 'ERR_RESOURCE_EXHAUSTED') || isColdframeError(error, 'ERR_SNAPSHOT_FILE')) throw noSpace(error);
    throw error;
  }
}

const noSpace = (cause: Error): SandboxFailure =>
  new SandboxFailure('disk-full', 'The server has no space for the snapshot', { cause });
