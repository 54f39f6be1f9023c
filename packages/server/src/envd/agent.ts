// The agent of all sandboxes: the services over Connect and the plain routes. The front has found
// the sandbox of each request.

import { createContextValues } from '@connectrpc/connect';
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import { Filesystem } from '../generated/filesystem_pb.js';
import { Process } from '../generated/process_pb.js';
import type { Size } from '../sandboxes/base.js';
import { CALL, callOf } from './context.js';
import { addFileRoutes } from './files.js';
import { filesystemService } from './filesystem-service.js';
import { processService } from './process-service.js';

/** The largest message of a client in bytes. Files are uploaded with plain requests. */
const MESSAGE_BYTES = 16 << 20;

/** Makes the agent. The caller passes requests to `agent.routing`. */
export async function createAgent(size: Size): Promise<FastifyInstance> {
  const agent = Fastify({ bodyLimit: Number.MAX_SAFE_INTEGER });
  await agent.register(async (services) => {
    services.addHook('onRequest', async (request, reply) => {
      const token = request.headers['x-access-token'];
      if (typeof token === 'string' && callOf(request.raw).isOpenedBy(token)) return;
      await reply.code(401).send({ code: 'unauthenticated', message: 'unauthorized access' });
    });
    await services.register(fastifyConnectPlugin, {
      routes: (router) => router.service(Process, processService).service(Filesystem, filesystemService),
      readMaxBytes: MESSAGE_BYTES,
      contextValues: ({ raw }) => createContextValues().set(CALL, callOf(raw)),
    });
  });
  await agent.register(async (files) => addFileRoutes(files, size));
  await agent.ready();
  return agent;
}
