// The routes of events and webhooks.

import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { EVENT_TYPES, wireEvent } from '../events/events.js';
import { sandboxIdOf } from '../ids.js';
import type { WebhookRecord } from '../registry/records.js';
import type { Control, Routes } from './app.js';
import { ControlFailure } from './failure.js';
import { IdPath } from './schemas/sandboxes.js';

const tags = ['events'];
const MOST_WEBHOOKS = 20;
const SECRET_BYTES = 32;

const EventsQuery = z.object({
  offset: z.coerce.number().int().min(0).max(1_000_000).default(0),
  limit: z.coerce.number().int().min(1).max(100).default(10),
  after: z.coerce.number().int().min(0).optional(),
  orderAsc: z.stringbool().default(false),
  types: z.string().max(1_000).optional(),
});

const types = z.array(z.enum(EVENT_TYPES as [string, ...string[]])).max(EVENT_TYPES.length);
const url = z.url({ protocol: /^https?$/ }).max(2_048);
const WebhookBody = z.object({
  name: z.string().min(1).max(100),
  url,
  events: types.default([]),
  enabled: z.boolean().default(true),
  signatureSecret: z.string().min(16).max(256).optional(),
});
const WebhookChange = z.object({
  name: z.string().min(1).max(100).optional(),
  url: url.optional(),
  events: types.optional(),
  enabled: z.boolean().optional(),
  signatureSecret: z.string().min(16).max(256).optional(),
});

const wire = ({ id, tenant, name, url: at, events, enabled, createdAt }: WebhookRecord) => ({
  id,
  teamId: tenant,
  name,
  url: at,
  events,
  enabled,
  createdAt: new Date(createdAt).toISOString(),
});

/** Adds the routes. */
export function addEventRoutes(app: Routes, { registry, webhooks, allowPrivateWebhooks }: Control): void {
  const list = (
    tenant: string,
    sandboxId: string | undefined,
    { offset, limit, after, orderAsc, types: given }: z.infer<typeof EventsQuery>,
  ) =>
    registry.events
      .list({ tenant, sandboxId, after, types: given?.split(','), order: orderAsc ? 'asc' : 'desc', offset, limit })
      .map(wireEvent);
  const all = { querystring: EventsQuery, tags, summary: 'List events' };
  app.get('/events/sandboxes', { schema: all }, ({ tenant, query }) => list(tenant, undefined, query));
  app.get('/events/sandboxes/:id', { schema: { ...all, params: IdPath } }, ({ tenant, params, query }) =>
    list(tenant, sandboxIdOf(params.id), query),
  );

  const config = { scope: 'admin' } as const;
  const find = (tenant: string, id: string): WebhookRecord => {
    const record = registry.webhooks.get(id);
    if (record?.tenant !== tenant) throw new ControlFailure(404, `The webhook ${id} was not found`);
    return record;
  };
  // A request without TLS shows its event to the network.
  const checkUrl = (text: string | undefined): void => {
    if (text?.startsWith('http:') && !allowPrivateWebhooks)
      throw new ControlFailure(400, 'The URL of a webhook must begin with https:');
  };
  app.get('/events/webhooks', { config, schema: { tags, summary: 'List webhooks' } }, ({ tenant }) =>
    registry.webhooks.list(tenant).map(wire),
  );
  const create = { body: WebhookBody, tags, summary: 'Create a webhook' };
  app.post('/events/webhooks', { config, schema: create }, ({ tenant, body }, reply) => {
    checkUrl(body.url);
    if (registry.webhooks.list(tenant).length >= MOST_WEBHOOKS)
      throw new ControlFailure(429, `The tenant may have at most ${MOST_WEBHOOKS} webhooks`);
    const { signatureSecret: secret = randomBytes(SECRET_BYTES).toString('hex'), ...fields } = body;
    const record = { id: randomUUID(), tenant, secret, createdAt: Date.now(), ...fields };
    if (!registry.webhooks.add(record)) throw new ControlFailure(409, `A webhook with the name ${body.name} exists`);
    // The key of the signatures is shown once.
    return reply.code(201).send({ ...wire(record), signatureSecret: secret });
  });
  const one = { params: IdPath, tags };
  app.get('/events/webhooks/:id', { config, schema: { ...one, summary: 'Describe a webhook' } }, ({ tenant, params }) =>
    wire(find(tenant, params.id)),
  );
  const change = { ...one, body: WebhookChange, summary: 'Change a webhook' };
  app.patch('/events/webhooks/:id', { config, schema: change }, ({ tenant, params, body }) => {
    checkUrl(body.url);
    const { id } = find(tenant, params.id);
    const { signatureSecret: secret, ...fields } = body;
    const same = fields.name === undefined ? undefined : registry.webhooks.named(tenant, fields.name);
    if (same !== undefined && same.id !== id) throw new ControlFailure(409, `A webhook with the name ${fields.name} exists`);
    const given = Object.entries({ ...fields, secret }).filter(([, value]) => value !== undefined);
    registry.webhooks.change(id, Object.fromEntries(given));
    return wire(find(tenant, id));
  });
  app.delete('/events/webhooks/:id', { config, schema: { ...one, summary: 'Delete a webhook' } }, ({ tenant, params }, reply) => {
    const { id } = find(tenant, params.id);
    registry.webhooks.remove(id);
    webhooks.forget(id);
    return reply.code(204).send();
  });
  app.get(
    '/events/webhooks/:id/deliveries',
    { config, schema: { ...one, summary: 'The newest deliveries of a webhook' } },
    ({ tenant, params }) =>
      webhooks
        .deliveries(find(tenant, params.id).id)
        .map((delivery) => ({ ...delivery, at: new Date(delivery.at).toISOString() })),
  );
}
