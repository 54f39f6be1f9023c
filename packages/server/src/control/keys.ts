// The routes of keys of the API.

import { z } from 'zod';
import { SCOPES } from '../access/keys.js';
import type { KeyRecord, Scope } from '../registry/records.js';
import type { Control, Routes } from './app.js';
import { ControlFailure } from './failure.js';
import { IdPath } from './schemas/sandboxes.js';

const tags = ['keys'];
const config = { scope: 'admin' } as const;
const MOST_KEYS = 100;
const name = z.string().min(1).max(100);
const NewKeyBody = z.object({
  name,
  scopes: z
    .array(z.enum(['read', 'exec', 'admin']))
    .min(1)
    .default(['exec']),
});

const wire = ({ id, name: own, mask, scopes, createdAt }: KeyRecord) => ({
  id,
  name: own,
  scopes,
  mask: { prefix: 'e2b_', valueLength: mask.length - 4, maskedValuePrefix: mask.prefix.slice(4), maskedValueSuffix: mask.suffix },
  createdAt: new Date(createdAt).toISOString(),
  createdBy: null,
  lastUsed: null,
});

/** Adds the routes. */
export function addKeyRoutes(app: Routes, { registry, keys }: Control): void {
  const find = (tenant: string, id: string): KeyRecord => {
    const record = registry.keys.get(id);
    if (record?.tenant !== tenant) throw new ControlFailure(404, `The key ${id} was not found`);
    return record;
  };
  app.get('/api-keys', { config, schema: { tags, summary: 'List keys' } }, ({ tenant }) => registry.keys.list(tenant).map(wire));
  app.post('/api-keys', { config, schema: { body: NewKeyBody, tags, summary: 'Create a key' } }, ({ tenant, body }, reply) => {
    if (keys.isOpen) throw new ControlFailure(400, 'The server accepts every request, because its options have no key');
    if (registry.keys.list(tenant).length >= MOST_KEYS)
      throw new ControlFailure(429, `The tenant may have at most ${MOST_KEYS} keys`);
    const wished: readonly Scope[] = body.scopes;
    const scopes = SCOPES.filter((scope) => wished.includes(scope));
    const made = keys.make(tenant, body.name, scopes);
    if (made === undefined) throw new ControlFailure(409, `A key with the name ${body.name} exists`);
    // The key is shown once.
    return reply.code(201).send({ ...wire(made.record), key: made.key });
  });
  const rename = { params: IdPath, body: z.object({ name }), tags, summary: 'Rename a key' };
  app.patch('/api-keys/:id', { config, schema: rename }, ({ tenant, params, body }, reply) => {
    const { id } = find(tenant, params.id);
    const same = registry.keys.named(tenant, body.name);
    if (same !== undefined && same.id !== id) throw new ControlFailure(409, `A key with the name ${body.name} exists`);
    registry.keys.change(id, { name: body.name });
    return reply.code(200).send(wire(find(tenant, id)));
  });
  app.delete(
    '/api-keys/:id',
    { config, schema: { params: IdPath, tags, summary: 'Delete a key' } },
    ({ tenant, params }, reply) => {
      registry.keys.remove(find(tenant, params.id).id);
      return reply.code(204).send();
    },
  );
}
