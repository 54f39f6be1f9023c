// The routes of single sandboxes.

import type { z } from 'zod';
import { isAllowed } from '../access/keys.js';
import { sandboxIdOf } from '../ids.js';
import type { SandboxRecord } from '../registry/records.js';
import { rollBack, takeSnapshot } from '../sandboxes/checkpoints.js';
import type { NetworkConfig } from '../sandboxes/network.js';
import { probe } from '../sandboxes/probe.js';
import type { Control, Routes } from './app.js';
import { ControlFailure, failureOf } from './failure.js';
import {
  ConnectBody,
  detail,
  ForkBody,
  IdempotencyHeader,
  IdPath,
  NetworkBody,
  NewSandboxBody,
  OldNewSandboxBody,
  PauseBody,
  ProbeBody,
  RefreshBody,
  ResumeBody,
  RollbackBody,
  SnapshotBody,
  sandboxResponse,
  TimeoutBody,
} from './schemas/sandboxes.js';
import { snapshotResponse } from './schemas/templates.js';

/** The shortest time in seconds that a refresh adds. */
const REFRESH_S = 15;
const tags = ['sandboxes'];

/** Adds the routes. */
export function addSandboxRoutes(app: Routes, control: Control): void {
  const { sandboxes, registry, stated } = control;
  /** Creations with a key that have not ended. */
  const pending = new Map<string, Promise<SandboxRecord>>();

  const create = (tenant: string, body: z.infer<typeof NewSandboxBody>): Promise<SandboxRecord> => {
    const {
      sandboxID: id,
      templateID,
      timeout,
      autoPause,
      autoPauseMemory,
      autoResume,
      metadata,
      envVars: env,
      volumeMounts,
    } = body;
    const resumes = autoResume?.enabled ?? false;
    if (!autoPauseMemory && (!autoPause || resumes)) {
      throw new ControlFailure(400, 'autoPauseMemory: false needs autoPause: true, and no autoResume');
    }
    const network = configOf({ allow_internet_access: body.allow_internet_access, ...body.network });
    const wish = { tenant, id, template: templateID, timeoutMs: timeout * 1_000, metadata, env, network, volumeMounts };
    return sandboxes.create({ ...wish, autoPause, autoPauseMemory, autoResume: resumes });
  };
  // A repeated request with the key of an earlier request returns the earlier sandbox.
  const createOnce = async (tenant: string, key: string | undefined, body: z.infer<typeof NewSandboxBody>) => {
    if (key === undefined) return create(tenant, body);
    const earlier = registry.replies.get(tenant, key);
    const known = earlier === undefined ? undefined : registry.sandboxes.get(earlier);
    if (known !== undefined) return known;
    const name = JSON.stringify([tenant, key]);
    const running = pending.get(name);
    if (running !== undefined) return running;
    const made = create(tenant, body).then((record) => {
      registry.replies.set(tenant, key, record.id, Date.now());
      return record;
    });
    pending.set(name, made);
    return made.finally(() => pending.delete(name));
  };
  for (const [path, body] of [
    ['/v2/sandboxes', NewSandboxBody],
    ['/sandboxes', OldNewSandboxBody],
  ] as const) {
    app.post(
      path,
      { schema: { body, headers: IdempotencyHeader, tags, summary: 'Create a sandbox' } },
      async (request, reply) => {
        const record = await createOnce(request.tenant, request.headers['idempotency-key'], request.body);
        return reply.code(201).send(sandboxResponse(record, stated));
      },
    );
  }

  for (const path of ['/v2/sandboxes/:id/connect', '/sandboxes/:id/connect']) {
    const schema = { params: IdPath, body: ConnectBody, tags, summary: 'Resume a paused sandbox, and extend its time' };
    app.post(path, { schema }, async ({ tenant, params, body }, reply) => {
      const { record, wasPaused } = await sandboxes.connect(tenant, sandboxIdOf(params.id), (body?.timeout ?? 300) * 1_000);
      return reply.code(wasPaused ? 201 : 200).send(sandboxResponse(record, stated));
    });
  }
  const resume = { params: IdPath, body: ResumeBody, tags, summary: 'Resume a paused sandbox' };
  app.post('/sandboxes/:id/resume', { schema: resume }, async ({ tenant, params, body }, reply) => {
    const id = sandboxIdOf(params.id);
    if (sandboxes.find(tenant, id).state === 'running') throw new ControlFailure(409, `The sandbox ${id} is running`);
    const { record } = await sandboxes.connect(tenant, id, body.timeout * 1_000);
    return reply.code(201).send(sandboxResponse(record, stated));
  });

  app.get('/sandboxes/:id', { schema: { params: IdPath, tags, summary: 'Describe a sandbox' } }, ({ tenant, params, caller }) => {
    const record = sandboxes.find(tenant, sandboxIdOf(params.id));
    return detail(record, stated, { leftMs: sandboxes.leftMs(record), hasToken: isAllowed(caller, 'exec') });
  });
  app.delete(
    '/sandboxes/:id',
    { schema: { params: IdPath, tags, summary: 'End a sandbox' } },
    async ({ tenant, params }, reply) => {
      const id = sandboxIdOf(params.id);
      if (!(await sandboxes.kill(tenant, id))) sandboxes.find(tenant, id);
      return reply.code(204).send();
    },
  );
  const timeout = { params: IdPath, body: TimeoutBody, tags, summary: 'Set the end of a sandbox' };
  app.post('/sandboxes/:id/timeout', { schema: timeout }, async ({ tenant, params, body }, reply) => {
    await sandboxes.setTimeout(tenant, sandboxIdOf(params.id), body.timeout * 1_000);
    return reply.code(204).send();
  });
  const refresh = { params: IdPath, body: RefreshBody, tags, summary: 'Extend the time of a sandbox' };
  app.post('/sandboxes/:id/refreshes', { schema: refresh }, ({ tenant, params, body }, reply) => {
    const { record } = sandboxes.live(tenant, sandboxIdOf(params.id));
    sandboxes.extend(record, Math.max(REFRESH_S, body?.duration ?? REFRESH_S) * 1_000);
    return reply.code(204).send();
  });
  const pause = { params: IdPath, body: PauseBody, tags, summary: 'Pause a sandbox' };
  app.post('/sandboxes/:id/pause', { schema: pause }, async ({ tenant, params, body }, reply) => {
    const id = sandboxIdOf(params.id);
    const wasRunning = await sandboxes.pause(tenant, id, body?.memory === false ? 'filesystem' : 'full');
    if (!wasRunning) throw new ControlFailure(409, `The sandbox ${id} is paused already`);
    return reply.code(204).send();
  });
  const revoke = { params: IdPath, tags, summary: 'Revoke the tokens of a sandbox' };
  app.post('/sandboxes/:id/tokens', { schema: revoke }, async ({ tenant, params }, reply) => {
    const record = await sandboxes.revokeTokens(tenant, sandboxIdOf(params.id));
    return reply.code(201).send(sandboxResponse(record, stated));
  });
  const snapshot = { params: IdPath, body: SnapshotBody, tags, summary: 'Take a snapshot of a sandbox' };
  app.post('/sandboxes/:id/snapshots', { schema: snapshot }, async ({ tenant, params, body }, reply) => {
    const { name, memory = true } = body ?? {};
    const taken = await takeSnapshot(control, tenant, sandboxIdOf(params.id), { name, memory });
    return reply.code(201).send(snapshotResponse(taken.template, taken.tags));
  });
  const ready = { params: IdPath, body: ProbeBody, tags, summary: 'Wait until a server in a sandbox is ready' };
  app.post('/sandboxes/:id/probe', { schema: ready }, async ({ tenant, params, body, raw }, reply) => {
    const { sandbox } = sandboxes.live(tenant, sandboxIdOf(params.id));
    const release = sandbox.hold(raw.socket);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    try {
      await probe(sandbox, { port: body.port, path: body.path, timeoutMs: body.timeout * 1_000 }, gone.signal);
    } catch (error) {
      // A client that has left receives no reply.
      if (gone.signal.aborted) return reply.hijack();
      throw error;
    } finally {
      release();
    }
    return reply.code(204).send();
  });
  const rollback = { params: IdPath, body: RollbackBody, tags, summary: 'Roll a sandbox back to a snapshot' };
  app.post('/sandboxes/:id/rollback', { schema: rollback }, async ({ tenant, params, body }, reply) => {
    await rollBack(control, tenant, sandboxIdOf(params.id), body.snapshotID);
    return reply.code(204).send();
  });
  const fork = { params: IdPath, body: ForkBody, tags, summary: 'Make copies of a sandbox' };
  for (const path of ['/sandboxes/:id/fork', '/sandboxes/:id/clone']) {
    app.post(path, { schema: fork }, async ({ tenant, params, body }, reply) => {
      const { count, timeout: time } = body ?? { count: 1, timeout: 300 };
      const forks = await sandboxes.fork(tenant, sandboxIdOf(params.id), count, time * 1_000);
      const responses = forks.map((one) => {
        if ('record' in one) return { sandbox: sandboxResponse(one.record, stated) };
        const { code, message } = failureOf(one.failure);
        return { error: { code, message } };
      });
      return reply.code(201).send(responses);
    });
  }
  const network = { params: IdPath, body: NetworkBody, tags, summary: 'Replace the connections out of a sandbox' };
  app.put('/sandboxes/:id/network', { schema: network }, async ({ tenant, params, body }, reply) => {
    await sandboxes.updateNetwork(tenant, sandboxIdOf(params.id), configOf(body));
    return reply.code(204).send();
  });
}

type NetworkWish = z.infer<typeof NetworkBody> & Pick<NetworkConfig, 'allowPublicTraffic' | 'maskRequestHost'>;

// Leaves out absent fields, so that a wish without a field is the default.
function configOf({ allow_internet_access: allowInternet, egressProxy: _, ...fields }: NetworkWish): NetworkConfig {
  return Object.fromEntries(Object.entries({ allowInternet, ...fields }).filter(([, value]) => value !== undefined));
}
