// The routes of snapshots.

import type { Control, Routes } from './app.js';
import { cursorOf, pageOf } from './cursor.js';
import { SnapshotsQuery } from './schemas/sandboxes.js';
import { snapshotResponse } from './schemas/templates.js';

/** Adds the routes. */
export function addSnapshotRoutes(app: Routes, { registry }: Control): void {
  const schema = { querystring: SnapshotsQuery, tags: ['snapshots'], summary: 'List snapshots' };
  app.get('/snapshots', { schema }, ({ tenant, query }, reply) => {
    const { sandboxID: sandboxId, name, limit, nextToken } = query;
    const after = cursorOf(nextToken);
    const found = registry.templates.list({ tenant, kind: 'snapshot', sandboxId, name, limit: limit + 1, after });
    const { page, next } = pageOf(found, limit, ({ createdAt: at, id }) => ({ at, id }));
    if (next !== undefined) reply.header('x-next-token', next);
    return reply.send(
      page.map((template) =>
        snapshotResponse(
          template,
          registry.templates.tags(template.id).map(({ tag }) => tag),
        ),
      ),
    );
  });
}
