// Removes snapshots and blobs that no record names. A crash can separate the write of a snapshot
// from the write of its record.

import type { Sidecar } from 'coldframe';
import type { Blobs } from '../fleet/blobs.js';
import type { Registry } from '../registry/registry.js';

/** Removes snapshots and blobs without a record. Runs before the first request. */
export async function removeOrphans({
  registry,
  sidecar,
  blobs,
}: {
  registry: Registry;
  sidecar: Sidecar;
  blobs: Blobs;
}): Promise<void> {
  const kept = registry.kept();
  for (const digest of await blobs.list()) if (!kept.blobs.has(digest)) await blobs.delete(digest);
  for (const tenant of kept.tenants) {
    for (const { id } of await sidecar.snapshots.list({ tenant })) {
      if (!kept.snapshots.has(id)) await sidecar.snapshots.delete(id, { tenant });
    }
  }
}
