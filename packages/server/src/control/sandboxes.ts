// The routes of sandboxes.

import type { z } from 'zod';
import { sandboxIdOf } from '../ids.js';
import type { SandboxRecord, SandboxState } from '../registry/records.js';
import { SIZE } from '../sandboxes/base.js';
import type { Control, Routes } from './app.js';
import { cursorOf, tokenOf } from './cursor.js';
import { ControlFailure, failureOf } from './failure.js';
import {
  ConnectBody,
  detail,
  ForkBody,
  IdPath,
  ListQuery,
  listed,
  NewSandboxBody,
  OldNewSandboxBody,
  PauseBody,
  RefreshBody,
  ResumeBody,
  SnapshotBody,
  sandboxResponse,
  snapshotResponse,
  TimeoutBody,
} from './schemas.js';

const STATES: readonly SandboxState[] = ['running', 'paused'];
/** The shortest time in seconds that a refresh adds. */
const REFRESH_S = 15;

/** Adds the routes. */
export function addSandboxRoutes(app: Routes, { sandboxes, registry }: Control): void {
  const create = async (tenant: string, body: z.infer<typeof NewSandboxBody>) => {
    const { templateID, timeout, autoPause, autoPauseMemory, autoResume, metadata, envVars: env } = body;
    const resumes = autoResume?.enabled ?? false;
    if (!autoPauseMemory && (!autoPause || resumes)) {
      throw new ControlFailure(400, 'autoPauseMemory: false needs autoPause: true, and no autoResume');
    }
    const wish = { tenant, template: templateID.replace(/:default$/, ''), timeoutMs: timeout * 1_000, metadata, env };
    return sandboxResponse(await sandboxes.create({ ...wish, autoPause, autoPauseMemory, autoResume: resumes }));
  };
  app.post('/v2/sandboxes', { schema: { body: NewSandboxBody } }, async ({ tenant, body }, reply) =>
    reply.code(201).send(await create(tenant, body)),
  );
  app.post('/sandboxes', { schema: { body: OldNewSandboxBody } }, async ({ tenant, body }, reply) =>
    reply.code(201).send(await create(tenant, body)),
  );

  for (const path of ['/v2/sandboxes/:id/connect', '/sandboxes/:id/connect']) {
    app.post(path, { schema: { params: IdPath, body: ConnectBody } }, async ({ tenant, params, body }, reply) => {
      const { record, wasPaused } = await sandboxes.connect(tenant, sandboxIdOf(params.id), (body?.timeout ?? 300) * 1_000);
      return reply.code(wasPaused ? 201 : 200).send(sandboxResponse(record));
    });
  }
  app.post('/sandboxes/:id/resume', { schema: { params: IdPath, body: ResumeBody } }, async ({ tenant, params, body }, reply) => {
    const id = sandboxIdOf(params.id);
    if (sandboxes.find(tenant, id).state === 'running') throw new ControlFailure(409, `The sandbox ${id} is running`);
    const { record } = await sandboxes.connect(tenant, id, body.timeout * 1_000);
    return reply.code(201).send(sandboxResponse(record));
  });

  app.get('/sandboxes/:id', { schema: { params: IdPath } }, ({ tenant, params }) =>
    detail(sandboxes.find(tenant, sandboxIdOf(params.id)), SIZE),
  );
  app.delete('/sandboxes/:id', { schema: { params: IdPath } }, async ({ tenant, params }, reply) => {
    const id = sandboxIdOf(params.id);
    if (!(await sandboxes.kill(tenant, id))) throw new ControlFailure(404, `The sandbox ${id} was not found`);
    return reply.code(204).send();
  });
  app.post(
    '/sandboxes/:id/timeout',
    { schema: { params: IdPath, body: TimeoutBody } },
    async ({ tenant, params, body }, reply) => {
      await sandboxes.setTimeout(tenant, sandboxIdOf(params.id), body.timeout * 1_000);
      return reply.code(204).send();
    },
  );
  app.post('/sandboxes/:id/refreshes', { schema: { params: IdPath, body: RefreshBody } }, ({ tenant, params, body }, reply) => {
    const record = sandboxes.find(tenant, sandboxIdOf(params.id));
    if (record.state !== 'running') throw new ControlFailure(409, `The sandbox ${record.id} is not running`);
    sandboxes.extend(record, Math.max(REFRESH_S, body?.duration ?? REFRESH_S) * 1_000);
    return reply.code(204).send();
  });
  app.post('/sandboxes/:id/pause', { schema: { params: IdPath, body: PauseBody } }, async ({ tenant, params, body }, reply) => {
    const id = sandboxIdOf(params.id);
    if (body?.memory === false) throw new ControlFailure(501, 'A pause without the memory is not available');
    if (!(await sandboxes.pause(tenant, id))) throw new ControlFailure(409, `The sandbox ${id} is paused already`);
    return reply.code(204).send();
  });
  app.post(
    '/sandboxes/:id/snapshots',
    { schema: { params: IdPath, body: SnapshotBody } },
    async ({ tenant, params, body }, reply) => {
      const taken = await sandboxes.snapshot(tenant, sandboxIdOf(params.id), body?.name);
      return reply.code(201).send(snapshotResponse(taken));
    },
  );
  app.post('/sandboxes/:id/fork', { schema: { params: IdPath, body: ForkBody } }, async ({ tenant, params, body }, reply) => {
    const { count, timeout } = body ?? { count: 1, timeout: 300 };
    const forks = await sandboxes.fork(tenant, sandboxIdOf(params.id), count, timeout * 1_000);
    const responses = forks.map((fork) => {
      if ('record' in fork) return { sandbox: sandboxResponse(fork.record) };
      const { status: code, message } = failureOf(fork.failure);
      return { error: { code, message } };
    });
    return reply.code(201).send(responses);
  });

  const list = (tenant: string, query: z.infer<typeof ListQuery>, states: readonly SandboxState[]) => {
    const templates = query.template?.split(',').map((reference) => registry.template(tenant, reference)?.id ?? reference);
    const found = registry.sandboxes({
      tenant,
      states,
      metadata: metadataOf(query.metadata),
      templateIds: templates,
      startedAfter: timeOf(query.startedAfter),
      order: query.order,
      limit: query.limit + 1,
      after: cursorOf(query.nextToken),
    });
    const page = found.slice(0, query.limit);
    const last = found.length > query.limit ? (page.at(-1) as SandboxRecord) : undefined;
    return { page: page.map((record) => listed(record, SIZE)), next: last && tokenOf({ at: last.startedAt, id: last.id }) };
  };
  app.get('/v2/sandboxes', { schema: { querystring: ListQuery } }, ({ tenant, query }, reply) => {
    const { page, next } = list(tenant, query, statesOf(query.state));
    reply.header('x-total-running', String(registry.running(tenant)));
    if (next !== undefined) reply.header('x-next-token', next);
    return reply.send(page);
  });
  app.get('/sandboxes', { schema: { querystring: ListQuery } }, ({ tenant, query }) => list(tenant, query, ['running']).page);
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
