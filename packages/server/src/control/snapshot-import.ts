// The route that imports the file of a snapshot. No parser reads the body, which is a stream.

import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { TooLarge } from '../fleet/blobs.js';
import type { Control, Routes } from './app.js';
import { requireKey } from './authenticate.js';
import { ControlFailure } from './failure.js';
import { snapshotResponse } from './schemas/templates.js';

/** Milliseconds that the server waits for a client that does not send. */
const STALLED_MS = 60_000;
/** Milliseconds in which the rest of a refused body is read, so that the client reads the reply. */
const REST_MS = 10_000;

const ImportQuery = z.object({ name: z.string().min(1).max(300).optional() });

/** Adds the route. */
export function addSnapshotImportRoute(app: Routes, { snapshotFiles, keys, audit }: Control): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_, __, done) => done(null));
  app.addHook('onRequest', requireKey(keys, audit));
  const schema = { querystring: ImportQuery, tags: ['snapshots'], summary: 'Import a snapshot from a file' };
  app.post('/snapshots/file', { schema }, async ({ tenant, query, raw }, reply) => {
    const chunks = chunksOf(raw);
    try {
      if (Number(raw.headers['content-length'] ?? 0) > snapshotFiles.maxBytes) throw new TooLarge(snapshotFiles.maxBytes);
      const { template, tags } = await snapshotFiles.import(tenant, chunks, query.name);
      return await reply.code(201).send(snapshotResponse(template, tags));
    } catch (error) {
      if (!raw.readableEnded) {
        reply.header('connection', 'close');
        // A read of the body can be in progress. The reply does not wait for this read.
        void chunks.return().then(
          () => discardRest(raw),
          () => {},
        );
      }
      throw error;
    }
  });
}

// A loop that ends early leaves the connection open for the reply.
async function* chunksOf(raw: IncomingMessage): AsyncGenerator<Buffer, void> {
  const destroy = (): void => void raw.socket.destroy();
  raw.socket.setTimeout(STALLED_MS, destroy);
  try {
    yield* raw.iterator({ destroyOnReturn: false });
  } catch (error) {
    throw raw.complete ? error : new ControlFailure(400, 'The body has ended early');
  } finally {
    raw.socket.setTimeout(0).off('timeout', destroy);
  }
}

function discardRest(raw: IncomingMessage): void {
  const timer = setTimeout(() => raw.destroy(), REST_MS).unref();
  raw.once('close', () => clearTimeout(timer));
  raw.on('error', () => {});
  raw.resume();
}
