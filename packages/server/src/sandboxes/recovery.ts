// Rebuilds records from manifests at the start of the server, if the registry was lost.
//
// A paused sandbox is recovered if the registry neither has the sandbox nor knows its end.
// Snapshots and templates are recovered only into a new registry, because a registry keeps no ends
// of those.
// All other manifests describe nothing that exists, and are removed.

import { isColdframeError, type Sidecar } from 'coldframe';
import type { Tokens } from '../access/tokens.js';
import { homeOf } from '../ids.js';
import type { BuildRecord, SandboxRecord, TemplateRecord } from '../registry/records.js';
import type { Registry } from '../registry/registry.js';
import type { EarlierServer } from '../registry/sqlite.js';
import { type Manifest, removeManifest } from './manifests.js';

/** The parts of the server that a recovery uses. */
export interface RecoveryParts {
  registry: Registry;
  sidecar: Sidecar;
  tokens: Tokens;
  folder: string;
  /** Is notified of a manifest that could not be used. */
  report: (error: Error) => void;
}

/** Returns what a new registry continues: the home and the last epoch of an earlier server. */
export function earlierServer(manifests: readonly Manifest[]): EarlierServer {
  const epochs = manifests.map(({ epoch }) => epoch);
  const ids = manifests.map((manifest) => (manifest.kind === 'sandbox' ? manifest.sandbox.id : undefined));
  return { home: homeOf(ids.find((id) => id !== undefined) ?? ''), epoch: Math.max(0, ...epochs) };
}

/** Adds what the manifests describe and the registry lacks. Returns the number of records. */
export async function recover(manifests: readonly Manifest[], parts: RecoveryParts): Promise<number> {
  let recovered = 0;
  // A tag names the newest build.
  const ordered = [...manifests].sort((a, b) => timeOf(a) - timeOf(b));
  for (const manifest of ordered) {
    if (isKnown(manifest, parts.registry)) continue;
    try {
      if (await isRecovered(manifest, parts)) recovered++;
      else await removeManifest(parts.folder, manifest.snapshot.id);
    } catch (error) {
      parts.report(new Error(`The manifest of ${manifest.snapshot.id} cannot be used`, { cause: error }));
    }
  }
  return recovered;
}

const timeOf = (manifest: Manifest): number =>
  manifest.kind === 'sandbox' ? manifest.sandbox.startedAt : Number(manifest.build.createdAt);

function isKnown(manifest: Manifest, { sandboxes, templates }: Registry): boolean {
  const record = manifest.kind === 'sandbox' ? sandboxes.get(manifest.sandbox.id) : templates.build(manifest.build.id);
  return record?.snapshot === manifest.snapshot.id;
}

async function isRecovered(manifest: Manifest, { registry, sidecar, tokens }: RecoveryParts): Promise<boolean> {
  const { tenant } = manifest.kind === 'sandbox' ? manifest.sandbox : manifest.template;
  const isStored = await sidecar.snapshots.get(manifest.snapshot.id, { tenant }).then(
    () => true,
    (error: unknown) => {
      if (isColdframeError(error, 'ERR_SNAPSHOT_NOT_FOUND')) return false;
      // The manifest stays, because the snapshot can still exist.
      throw error;
    },
  );
  if (!isStored) return false;
  if (manifest.kind === 'template') return registry.isNew && recoverBuild(manifest, registry);
  const { id } = manifest.sandbox;
  if (registry.sandboxes.get(id) !== undefined || registry.sandboxes.ended(id) !== undefined) return false;
  registry.sandboxes.add(recordOf(manifest, tokens));
  return true;
}

function recordOf({ sandbox, tokens: claims }: Manifest & { kind: 'sandbox' }, tokens: Tokens): SandboxRecord {
  const record = sandbox as unknown as SandboxRecord;
  // The tokens of a sandbox of an earlier version had no claims.
  return { ...record, ...tokens.issueAll(record, claims.epoch, claims.expiresAt || undefined) };
}

function recoverBuild({ template, build, tags }: Manifest & { kind: 'template' }, { templates }: Registry): boolean {
  const [own, first] = [template as unknown as TemplateRecord, build as unknown as BuildRecord];
  if (templates.find(own.tenant, own.id) === undefined) templates.add(own, first, tags);
  else templates.addBuild(first, tags);
  return true;
}
