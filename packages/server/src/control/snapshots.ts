// The routes of snapshots.

import type { TemplateRecord } from '../registry/records.js';
import type { Control, Routes } from './app.js';
import { cursorOf, tokenOf } from './cursor.js';
import { SnapshotsQuery, snapshotResponse } from './schemas.js';

/** Adds the routes. */
export function addSnapshotRoutes(app: Routes, { registry }: Control): void {
  app.get('/snapshots', { schema: { querystring: SnapshotsQuery } }, ({ tenant, query }, reply) => {
    const { sandboxID: sandboxId, name, limit, nextToken } = query;
    const found = registry.templates({ tenant, sandboxId, name, limit: limit + 1, after: cursorOf(nextToken) });
    const page = found.slice(0, limit);
    if (found.length > limit) {
      const { createdAt: at, id } = page.at(-1) as TemplateRecord;
      reply.header('x-next-token', tokenOf({ at, id }));
    }
    return reply.send(page.map(snapshotResponse));
  });
}
