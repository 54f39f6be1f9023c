// The manifests of snapshots on disk: a file of JSON for each paused sandbox, and for each snapshot
// and template. A manifest has everything that a server without the registry needs.
//
// The registry decides which sandboxes exist. Manifests are read only at the start of the server,
// by `recovery.ts`. A manifest has no token: tokens are signed again from their claims.

import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isColdframeError, type NodeRuntimeOptions, type Sidecar } from 'coldframe';
import { z } from 'zod';
import type { Tokens } from '../access/tokens.js';
import { homeOf } from '../ids.js';
import type { BuildRecord, SandboxRecord, TemplateRecord } from '../registry/records.js';

const EXTENSION = '.json';
const SNAPSHOT_ID = /^snap-[a-z0-9]+$/;

const texts = z.record(z.string(), z.string());
const time = z.number();
const snapshot = z.object({
  id: z.string().regex(SNAPSHOT_ID),
  /** The content hash of the guest image that the snapshot needs. */
  image: z.string(),
  /** The parts of the content. A snapshot is one file, so the list has one layer. */
  layers: z.array(z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), size: z.number() })).length(1),
});
const lifecycle = { autoPause: z.boolean(), autoPauseMemory: z.boolean(), autoResume: z.boolean() };
const files = z.record(z.string(), texts);
const sandbox = z.looseObject({
  id: z.string().refine((id) => homeOf(id) !== undefined, 'the id of a sandbox'),
  tenant: z.string().min(1),
  templateId: z.string(),
  state: z.literal('paused'),
  metadata: texts,
  env: texts,
  user: z.string(),
  startedAt: time,
  endAt: time,
  timeoutMs: time,
  leftMs: time,
  network: z.looseObject({}),
  volumeMounts: z.array(z.object({ name: z.string(), path: z.string() })),
  pauseMode: z.enum(['full', 'filesystem']),
  snapshot: z.string().regex(SNAPSHOT_ID),
  fileMetadata: files,
  epoch: z.number().int(),
  ...lifecycle,
});
const template = z.looseObject({ id: z.string(), tenant: z.string(), kind: z.enum(['template', 'snapshot']) });
const build = z.looseObject({ id: z.string(), templateId: z.string(), snapshot: z.string(), env: texts, fileMetadata: files });

const common = { version: z.literal(1), epoch: z.number().int(), snapshot, limits: z.record(z.string(), z.unknown()) };

const Manifest = z.discriminatedUnion('kind', [
  z.object({
    ...common,
    kind: z.literal('sandbox'),
    sandbox,
    tokens: z.object({ epoch: z.number().int(), expiresAt: time }),
  }),
  z.object({ ...common, kind: z.literal('template'), template, build, tags: z.array(z.string()) }),
]);

/** The facts of one snapshot. */
export type Manifest = z.infer<typeof Manifest>;

/** The parts of the server that manifests are made from. */
export interface ManifestParts {
  folder: string;
  sidecar: Sidecar;
  tokens: Tokens;
  limits: NonNullable<NodeRuntimeOptions['limits']>;
  /** The number of this start of the server. */
  epoch: number;
  /** Is notified of a manifest that could not be written. */
  report: (error: Error) => void;
}

/** Writes and removes manifests. */
export class Manifests {
  readonly #parts: ManifestParts;

  constructor(parts: ManifestParts) {
    this.#parts = parts;
  }

  /** Writes the manifest of a paused sandbox. A failure is reported and does not fail the pause. */
  async keepSandbox(record: SandboxRecord): Promise<void> {
    const { accessToken, trafficToken: _, ...sandbox } = record;
    const { tokenEpoch = 0 } = record;
    const expiresAt = this.#parts.tokens.check(accessToken)?.expiresAt ?? 0;
    const tokens = { epoch: tokenEpoch, expiresAt };
    await this.#keep(record.tenant, record.snapshot as string, { kind: 'sandbox', sandbox, tokens });
  }

  /** Writes the manifest of a build of a template or a snapshot. A failure is reported. */
  async keepBuild(template: TemplateRecord, build: BuildRecord, tags: readonly string[]): Promise<void> {
    await this.#keep(template.tenant, build.snapshot as string, { kind: 'template', template, build, tags });
  }

  async #keep(tenant: string, id: string, facts: Record<string, unknown>): Promise<void> {
    const { sidecar, limits, epoch, report } = this.#parts;
    try {
      // The digest of a written snapshot is in its head, so no content is read.
      const kept = await sidecar.snapshots.get(id, { tenant });
      const layers = [{ sha256: await kept.digest(), size: kept.size }];
      const snapshot = { id, image: kept.imageVersion, layers };
      await this.#write(id, JSON.stringify({ version: 1, epoch, snapshot, limits, ...facts }));
    } catch (error) {
      // A concurrent deletion of the snapshot leaves nothing to describe.
      if (!isColdframeError(error, 'ERR_SNAPSHOT_NOT_FOUND')) report(error as Error);
    }
  }

  async #write(id: string, text: string): Promise<void> {
    const { folder } = this.#parts;
    const part = join(folder, `${id}.part`);
    const file = await open(part, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, join(folder, id + EXTENSION));
  }

  /** Deletes a snapshot with its manifest. Does nothing for an unknown snapshot. */
  async discard(tenant: string, id: string): Promise<void> {
    // A manifest without a snapshot is ignored by a recovery, and removed.
    await this.#parts.sidecar.snapshots.delete(id, { tenant }).catch((error: unknown) => {
      if (!isColdframeError(error, 'ERR_SNAPSHOT_NOT_FOUND')) throw error;
    });
    await removeManifest(this.#parts.folder, id);
  }
}

/** Removes the manifest of a snapshot. */
export const removeManifest = (folder: string, snapshot: string): Promise<void> =>
  rm(join(folder, snapshot + EXTENSION), { force: true });

/** Reads all manifests of `folder`, which is made if missing. Passes damaged files to `report`. */
export async function readManifests(folder: string, report: (error: Error) => void): Promise<Manifest[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found: Manifest[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (!name.endsWith(EXTENSION)) await rm(path, { force: true });
    else {
      try {
        found.push(Manifest.parse(JSON.parse(await readFile(path, 'utf8'))));
      } catch (error) {
        report(new Error(`The manifest ${path} is damaged`, { cause: error }));
      }
    }
  }
  return found;
}
