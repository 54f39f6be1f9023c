// The routes that list sandboxes.

import type { z } from 'zod';
import type { SandboxState } from '../registry/records.js';
import { BASE, isBase } from '../sandboxes/base.js';
import { referenceOf } from '../templates/references.js';
import type { Control, Routes } from './app.js';
import { cursorOf, pageOf } from './cursor.js';
import { ControlFailure } from './failure.js';
import { ListQuery, listed } from './schemas/sandboxes.js';

const STATES: readonly SandboxState[] = ['running', 'paused'];
const tags = ['sandboxes'];

/** Adds the routes. */
export function addSandboxListRoutes(app: Routes, { registry, stated }: Control): void {
  const idOf = (tenant: string, reference: string): string => {
    if (isBase(reference)) return BASE;
    const name = referenceOf(tenant, reference)?.name ?? reference;
    return registry.templates.find(tenant, name)?.id ?? name;
  };
  const list = (tenant: string, query: z.infer<typeof ListQuery>, states: readonly SandboxState[]) => {
    const found = registry.sandboxes.list({
      tenant,
      states,
      metadata: metadataOf(query.metadata),
      templateIds: query.template?.split(',').map((reference) => idOf(tenant, reference)),
      startedAfter: timeOf(query.startedAfter),
      order: query.order,
      limit: query.limit + 1,
      after: cursorOf(query.nextToken),
    });
    const { page, next } = pageOf(found, query.limit, ({ startedAt: at, id }) => ({ at, id }));
    return { page: page.map((record) => listed(record, stated)), next };
  };
  const schema = { querystring: ListQuery, tags, summary: 'List sandboxes' };
  app.get('/v2/sandboxes', { schema }, ({ tenant, query }, reply) => {
    const { page, next } = list(tenant, query, statesOf(query.state));
    reply.header('x-total-running', String(registry.sandboxes.count(tenant).running));
    if (next !== undefined) reply.header('x-next-token', next);
    return reply.send(page);
  });
  app.get('/sandboxes', { schema }, ({ tenant, query }) => list(tenant, query, ['running']).page);
}

function statesOf(text: string | undefined): readonly SandboxState[] {
  if (text === undefined || text === '') return STATES;
  const states = text.split(',');
  const unknown = states.find((state) => !STATES.includes(state as SandboxState));
  if (unknown !== undefined) throw new ControlFailure(400, `state must be running or paused, and is ${unknown}`);
  return states as SandboxState[];
}

// The value is a form. Its names and values are encoded twice.
function metadataOf(text: string | undefined): Record<string, string> {
  const metadata: [string, string][] = [];
  try {
    for (const [name, value] of new URLSearchParams(text ?? ''))
      metadata.push([decodeURIComponent(name), decodeURIComponent(value)]);
  } catch {
    throw new ControlFailure(400, 'metadata is not a form of encoded names and values');
  }
  return Object.fromEntries(metadata);
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new ControlFailure(400, `startedAfter must be a time of RFC 3339, and is ${text}`);
  return time;
}
