// The routes of secrets. No response contains a value.

import { z } from 'zod';
import type { SecretRecord } from '../registry/records.js';
import type { Control, Routes } from './app.js';
import { IdPath } from './schemas/sandboxes.js';

const tags = ['secrets'];
const MOST_METADATA_BYTES = 8_192;

// A value is a part of a header: control characters could begin another header.
const value = z
  .string()
  .min(1)
  .max(16_384)
  .refine((text) => !/\p{Cc}/u.test(text) && text.trim() === text, 'text of one line without outer spaces');
const metadata = z
  .record(z.string().min(1).max(128), z.string().max(1_024))
  .refine((all) => Object.keys(all).length <= 32, 'at most 32 entries')
  .refine((all) => Buffer.byteLength(JSON.stringify(all)) <= MOST_METADATA_BYTES, `at most ${MOST_METADATA_BYTES} bytes`);
const name = z
  .string()
  .regex(/^[a-zA-Z0-9_-]{1,100}$/)
  .refine((text) => !/^sec_/i.test(text), 'a name without the prefix sec_');
const NewSecretBody = z.object({ name, value, metadata: metadata.default({}) });
const SecretBody = z.object({ value, metadata: metadata.optional() });

const wire = ({ id, name: own, version, metadata: facts, createdAt, updatedAt }: SecretRecord) => ({
  secretID: id,
  name: own,
  currentVersion: version,
  metadata: facts,
  createdAt: new Date(createdAt).toISOString(),
  updatedAt: new Date(updatedAt).toISOString(),
});

/** Adds the routes. */
export function addSecretRoutes(app: Routes, { secrets }: Control): void {
  app.get('/secrets', { schema: { tags, summary: 'List secrets' } }, ({ tenant }) => secrets.list(tenant).map(wire));
  const config = { scope: 'admin' } as const;
  app.post('/secrets', { config, schema: { body: NewSecretBody, tags, summary: 'Create a secret' } }, ({ tenant, body }, reply) =>
    reply.code(201).send(wire(secrets.add(tenant, body.name, body.value, body.metadata))),
  );
  app.get('/secrets/:id', { schema: { params: IdPath, tags, summary: 'Describe a secret' } }, ({ tenant, params }) =>
    wire(secrets.find(tenant, params.id)),
  );
  const update = { params: IdPath, body: SecretBody, tags, summary: 'Replace the value of a secret' };
  app.post('/secrets/:id', { config, schema: update }, ({ tenant, params, body }) =>
    wire(secrets.update(tenant, params.id, body.value, body.metadata)),
  );
  app.delete(
    '/secrets/:id',
    { config, schema: { params: IdPath, tags, summary: 'Delete a secret' } },
    ({ tenant, params }, reply) => {
      secrets.remove(tenant, params.id);
      return reply.code(204).send();
    },
  );
}
