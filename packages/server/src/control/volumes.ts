// The routes of volumes.

import { z } from 'zod';
import type { VolumeRecord } from '../registry/records.js';
import type { Control, Routes } from './app.js';
import { IdPath } from './schemas/sandboxes.js';

const tags = ['volumes'];
const NewVolumeBody = z.object({ name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/) });

const plain = ({ id, name }: VolumeRecord) => ({ volumeID: id, name });
const withToken = (record: VolumeRecord) => ({ ...plain(record), token: record.token });

/** Adds the routes. */
export function addVolumeRoutes(app: Routes, { volumes, quotas }: Control): void {
  app.post('/volumes', { schema: { body: NewVolumeBody, tags, summary: 'Create a volume' } }, ({ tenant, body }, reply) => {
    quotas.checkVolumes(tenant);
    return reply.code(201).send(withToken(volumes.add(tenant, body.name)));
  });
  app.get('/volumes', { schema: { tags, summary: 'List volumes' } }, ({ tenant }) => volumes.list(tenant).map(plain));
  // The token opens the content for writing.
  const one = { schema: { params: IdPath, tags, summary: 'Describe a volume' }, config: { scope: 'exec' } } as const;
  app.get('/volumes/:id', one, ({ tenant, params }) => withToken(volumes.find(tenant, params.id)));
  app.delete(
    '/volumes/:id',
    { schema: { params: IdPath, tags, summary: 'Delete a volume' } },
    async ({ tenant, params }, reply) => {
      await volumes.remove(tenant, params.id);
      return reply.code(204).send();
    },
  );
}
