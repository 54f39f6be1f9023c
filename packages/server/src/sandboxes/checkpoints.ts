// Takes snapshots of sandboxes that new sandboxes can start from, and rolls sandboxes back.

import { randomUUID } from 'node:crypto';
import { isColdframeError } from 'coldframe';
import type { Events } from '../events/events.js';
import { newTemplateId } from '../ids.js';
import type { BuildRecord, TemplateRecord } from '../registry/records.js';
import type { Registry } from '../registry/registry.js';
import { type Built, buildOf, DEFAULT_TAG, type Reference, referenceOf } from '../templates/references.js';
import { SandboxFailure } from './failure.js';
import type { Manifests } from './manifests.js';
import { quietly } from './pausing.js';
import type { Quotas } from './quotas.js';
import type { Sandboxes } from './sandboxes.js';

/** The parts of the server that snapshots use. */
export interface CheckpointParts {
  sandboxes: Sandboxes;
  registry: Registry;
  quotas: Quotas;
  events: Events;
  manifests: Manifests;
}

/** A snapshot with the names of its state. */
export interface Taken {
  template: TemplateRecord;
  tags: readonly string[];
}

/** The name and the content of a new snapshot. */
export interface SnapshotWish {
  name: string | undefined;
  /** Whether the snapshot has the programs with their memory, or the files alone. */
  memory: boolean;
}

/** Takes a snapshot of a running sandbox. A snapshot with a known name gets another build. */
export async function takeSnapshot(
  parts: CheckpointParts,
  tenant: string,
  id: string,
  { name, memory }: SnapshotWish,
): Promise<Taken> {
  const { sandboxes, registry, events } = parts;
  const reference = name === undefined ? undefined : referenceOf(tenant, name);
  if (name !== undefined && reference === undefined) {
    throw new SandboxFailure('invalid', `${name} is no name of a snapshot: letters, digits, - and _, with or without a tag`);
  }
  return sandboxes.whileRunning(tenant, id, async (sandbox, source) => {
    knownSnapshot(parts, tenant, reference);
    const labels = { sandbox: id, template: source.templateId, epoch: String(registry.epoch) };
    const taken = await quietly(id, () => sandbox.runtime.snapshot({ store: 'disk', memory, labels }));
    const build = {
      snapshot: taken.id,
      env: source.env,
      user: source.user,
      workdir: source.workdir,
      fileMetadata: Object.fromEntries(sandbox.fileMetadata),
    };
    const added = await addSnapshot(parts, tenant, { reference, sandboxId: id, build });
    events.record('checkpointed', source, { snapshotID: added.template.id });
    return added;
  });
}

/** The parts of the server that records of snapshots use. */
type RecordParts = Pick<CheckpointParts, 'registry' | 'quotas' | 'manifests'>;

/**
 * Returns the snapshot with a name. Fails if a template has the name, or if the tenant may have no
 * further snapshot.
 */
export function knownSnapshot(
  { registry, quotas }: RecordParts,
  tenant: string,
  reference: Reference | undefined,
): TemplateRecord | undefined {
  const known = reference && registry.templates.find(tenant, reference.name);
  if (known?.kind === 'template') throw new SandboxFailure('name-taken', `A template with the name ${known.name} exists`);
  if (known === undefined) quotas.checkTemplates(tenant);
  return known;
}

/** The content of a new snapshot that the SDK has stored. */
export interface StoredSnapshot {
  reference: Reference | undefined;
  sandboxId: string | undefined;
  build: Pick<Built, 'snapshot' | 'env' | 'user' | 'workdir' | 'fileMetadata' | 'isImported'>;
}

/** Adds the records of a stored snapshot. A snapshot with a known name gets another build. */
export async function addSnapshot(
  parts: RecordParts,
  tenant: string,
  { reference, sandboxId, build: content }: StoredSnapshot,
): Promise<Taken> {
  const { registry, manifests } = parts;
  const known = knownSnapshot(parts, tenant, reference);
  const now = Date.now();
  const template: TemplateRecord = known ?? {
    id: newTemplateId(),
    tenant,
    kind: 'snapshot',
    name: reference?.name,
    sandboxId,
    createdAt: now,
    updatedAt: now,
  };
  const state = { state: 'ready', failure: undefined, createdAt: now, finishedAt: now } as const;
  const build: BuildRecord = { ...content, id: randomUUID(), templateId: template.id, ...state };
  const tags = [reference?.tag ?? DEFAULT_TAG];
  await manifests.keepBuild(template, build, tags);
  if (known === undefined) registry.templates.add(template, build, tags);
  else registry.templates.addBuild(build, tags);
  if (known !== undefined) await dropUntagged(parts, known);
  return { template, tags };
}

/** Rolls a running sandbox back to a snapshot of the same tenant. */
export async function rollBack(parts: CheckpointParts, tenant: string, id: string, snapshot: string): Promise<void> {
  const { sandboxes, registry, events } = parts;
  const { build } = buildOf(registry, tenant, snapshot);
  await sandboxes.whileRunning(tenant, id, async (sandbox, record) => {
    try {
      await sandbox.runtime.rollback(build.snapshot);
    } catch (error) {
      if (!isColdframeError(error)) throw error;
      throw new SandboxFailure('invalid', `The sandbox ${id} was not rolled back: ${error.message}`, { cause: error });
    }
    sandbox.fileMetadata.clear();
    for (const [path, metadata] of Object.entries(build.fileMetadata)) sandbox.fileMetadata.set(path, metadata);
    await sandbox.programs.attach(sandbox.programs.running);
    events.record('rolled_back', record, { snapshotID: build.templateId });
  });
}

/** Deletes a template or a snapshot with all builds. Returns whether it existed. */
export async function removeTemplate(
  { registry, manifests }: Pick<CheckpointParts, 'registry' | 'manifests'>,
  tenant: string,
  reference: string,
): Promise<boolean> {
  const parsed = referenceOf(tenant, reference);
  const template = parsed && registry.templates.find(tenant, parsed.name);
  if (template === undefined) return false;
  for (const build of registry.templates.remove(template.id)) await forget(manifests, tenant, build);
  return true;
}

// Deletes the builds of a snapshot that no tag names any longer.
async function dropUntagged({ registry, manifests }: RecordParts, template: TemplateRecord): Promise<void> {
  const tagged = new Set(registry.templates.tags(template.id).map(({ buildId }) => buildId));
  for (const build of registry.templates.builds(template.id)) {
    if (tagged.has(build.id) || build.state === 'waiting' || build.state === 'building') continue;
    registry.templates.removeBuild(build.id);
    await forget(manifests, template.tenant, build);
  }
}

async function forget(manifests: Manifests, tenant: string, { snapshot }: BuildRecord): Promise<void> {
  if (snapshot !== undefined) await manifests.discard(tenant, snapshot);
}
