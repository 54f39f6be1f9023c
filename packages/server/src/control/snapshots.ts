// The routes of snapshots.

import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Control, Routes } from './app.js';
import { cursorOf, pageOf } from './cursor.js';
import { IdPath, SnapshotsQuery } from './schemas/sandboxes.js';
import { snapshotResponse } from './schemas/templates.js';

/** Milliseconds that the server waits for a client that does not read. */
const STALLED_MS = 60_000;

/** Adds the routes. */
export function addSnapshotRoutes(app: Routes, { registry, snapshotFiles }: Control): void {
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
  // The file has the memory of the programs, so a reader needs what a user of the sandbox needs.
  const file = { params: IdPath, tags: ['snapshots'], summary: 'Export a snapshot as a file' };
  const options = { schema: file, config: { scope: 'exec' }, exposeHeadRoute: false } as const;
  app.get('/snapshots/:id/file', options, async ({ tenant, params, raw }, reply) => {
    const { size, stream } = await snapshotFiles.export(tenant, params.id);
    endIfStalled(raw.socket, stream);
    return reply.header('content-type', 'application/octet-stream').header('content-length', size).send(stream);
  });
}

// A client that does not read loses its connection, and the file ends with the connection.
function endIfStalled(socket: Socket, stream: Readable): void {
  const destroy = (): void => void socket.destroy();
  socket.setTimeout(STALLED_MS, destroy);
  stream.once('close', () => socket.setTimeout(0).off('timeout', destroy));
}
