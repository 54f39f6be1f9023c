// The Model Context Protocol at `/mcp`, with the tools of `coldframe mcp`. The sessions of a client
// are sandboxes of the key's tenant: they are in the list, and they end at their deadline. The
// clients of one tenant cannot name the clients of another tenant.

import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { NodeRuntime } from 'coldframe';
import { createMcpHandler, type McpHandler } from 'coldframe/mcp';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Control, Routes } from '../control/app.js';
import { BASE, HOME } from '../sandboxes/base.js';
import { SandboxFailure } from '../sandboxes/failure.js';
import type { Sandboxes } from '../sandboxes/sandboxes.js';

/** The life of a sandbox of a session. An idle session ends before. */
const LIFE_MS = 24 * 3_600_000;
/** The largest request: a call of `write_file` has a whole file. */
const BODY_BYTES = 16 << 20;

/** Adds the route. */
export function addMcpRoutes(app: Routes, { sandboxes }: Pick<Control, 'sandboxes'>): void {
  const handlers = new Map<string, McpHandler>();
  const handlerOf = (tenant: string): McpHandler => {
    const known = handlers.get(tenant) ?? createMcpHandler({ ...sourceOf(sandboxes, tenant), folder: HOME });
    handlers.set(tenant, known);
    return known;
  };
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { method, headers, body, tenant } = request;
    const given = new Headers();
    for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') given.set(name, value);
    // The origin has no effect: only the key decides.
    const asked = new Request(`http://localhost${request.url}`, { method, headers: given });
    const response = await handlerOf(tenant).fetch(asked, body);
    reply.code(response.status);
    for (const [name, value] of response.headers) reply.header(name, value);
    return reply.send(response.body === null ? null : Readable.fromWeb(response.body as ReadableStream<Uint8Array>));
  };
  // A client of GET receives the messages of its sessions, which run programs.
  const options = { config: { scope: 'exec' }, schema: { hide: true } } as const;
  app.post('/mcp', { ...options, bodyLimit: BODY_BYTES }, answer);
  app.get('/mcp', options, answer);
  app.delete('/mcp', options, answer);
}

// Makes the runtimes of sessions as sandboxes.
function sourceOf(sandboxes: Sandboxes, tenant: string) {
  const ids = new WeakMap<NodeRuntime, string>();
  const runtimeOf = (id: string): NodeRuntime => {
    const running = sandboxes.running(id);
    if (running === undefined) throw new SandboxFailure('sandbox-not-found', `The sandbox ${id} has ended`);
    const { runtime } = running.sandbox;
    ids.set(runtime, id);
    return runtime;
  };
  return {
    async create() {
      const wish = { template: BASE, timeoutMs: LIFE_MS, metadata: { client: 'mcp' }, env: {}, network: {}, volumeMounts: [] };
      const lifecycle = { autoPause: false, autoPauseMemory: true, autoResume: false };
      return runtimeOf((await sandboxes.create({ tenant, ...wish, ...lifecycle })).id);
    },
    async clone(runtime: NodeRuntime) {
      const [fork] = await sandboxes.fork(tenant, ids.get(runtime) ?? '', 1, LIFE_MS);
      if (fork === undefined || 'failure' in fork) throw fork?.failure ?? new Error('The sandbox was not copied');
      return runtimeOf(fork.record.id);
    },
    async dispose(runtime: NodeRuntime) {
      await sandboxes.kill(tenant, ids.get(runtime) ?? '');
    },
  };
}
