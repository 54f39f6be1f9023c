// The route that receives the files of a step of a build. The link is signed, because a client
// uploads without its key. The files are hashed while they arrive.

import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isSameToken } from '../envd/access.js';
import type { Control, Routes } from './app.js';
import { ControlFailure } from './failure.js';

const LARGEST_BYTES = 1 << 30;
const VALID_MS = 3_600_000;

const signatureOf = (key: Buffer, tenant: string, hash: string, until: number): string =>
  createHmac('sha256', key)
    .update(JSON.stringify([tenant, hash, until]))
    .digest('hex');

/** Returns the path of a link for the files with a client's digest. */
export function uploadPath(key: Buffer, tenant: string, hash: string): string {
  const until = Date.now() + VALID_MS;
  const query = new URLSearchParams({ tenant, until: String(until), signature: signatureOf(key, tenant, hash, until) });
  return `/uploads/${hash}?${query}`;
}

const UploadPath = z.object({ hash: z.string().regex(/^[0-9a-zA-Z]{1,128}$/) });
const UploadQuery = z.object({ tenant: z.string().max(200), until: z.coerce.number(), signature: z.string().max(200) });

/** Adds the route. */
export function addUploadRoutes(app: Routes, { registry, blobs, uploadKey }: Control): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_, __, done) => done(null));
  const schema = { params: UploadPath, querystring: UploadQuery, tags: ['templates'], summary: 'Upload the files of a step' };
  app.put('/uploads/:hash', { schema }, async ({ raw, params, query }, reply) => {
    const { tenant, until, signature } = query;
    const expected = signatureOf(uploadKey, tenant, params.hash, until);
    if (!isSameToken(signature, expected) || until < Date.now()) throw new ControlFailure(401, 'The link is not valid');
    const { digest } = await blobs.put(raw, LARGEST_BYTES);
    const before = registry.templates.upload(tenant, params.hash);
    registry.templates.setUpload({ tenant, hash: params.hash, digest, at: Date.now() });
    if (before !== undefined && !registry.templates.isUploaded(before.digest)) await blobs.delete(before.digest);
    return reply.code(200).send();
  });
}
