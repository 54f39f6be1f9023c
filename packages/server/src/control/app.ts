// The control plane: REST over the sandboxes. Each noun has a file of routes.

import Fastify, { type FastifyInstance } from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { addMcpRoutes } from '../mcp/mcp.js';
import { addPageRoutes } from '../page/page.js';
import type { Registry } from '../registry/registry.js';
import type { Sandboxes } from '../sandboxes/sandboxes.js';
import { failureOf } from './failure.js';
import { type ApiKey, requireKey } from './keys.js';
import { addSandboxRoutes } from './sandboxes.js';
import { addSnapshotRoutes } from './snapshots.js';
import { addTemplateRoutes } from './templates.js';

const BODY_BYTES = 1 << 20;
/** Seconds after which a client repeats a refused request. */
const RETRY_S = 1;

/** The parts of the server that the routes use. */
export interface Control {
  sandboxes: Sandboxes;
  registry: Registry;
  /** The domain of ports of sandboxes. */
  domain?: string | undefined;
}

/** An app whose routes are checked by zod. */
export type App = FastifyInstance & ReturnType<FastifyInstance['withTypeProvider']>;

/** Makes the control plane. The caller passes requests to `app.routing`. */
export async function createControl(control: Control, keys: readonly ApiKey[]) {
  const app = Fastify({
    bodyLimit: BODY_BYTES,
    routerOptions: { ignoreTrailingSlash: true },
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler);
  app.decorateRequest('tenant', '');
  // Some clients announce JSON and send no body.
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(body as string));
    } catch (error) {
      done(Object.assign(error as Error, { statusCode: 400 }));
    }
  });
  app.setErrorHandler((error, _, reply) => {
    const { status, message } = failureOf(error);
    if (status === 429) reply.header('retry-after', String(RETRY_S));
    return reply.code(status).send({ code: status, message });
  });
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send({ code: 404, message: `no such route: ${request.method} ${request.url}` }),
  );
  app.get('/health', (_, reply) => reply.code(204).send());
  addPageRoutes(app, control.domain);
  await app.register(async (routes) => {
    routes.addHook('onRequest', requireKey(keys));
    const typed = routes.withTypeProvider<ZodTypeProvider>();
    addSandboxRoutes(typed, control);
    addSnapshotRoutes(typed, control);
    addTemplateRoutes(typed, control);
    addMcpRoutes(typed, control.sandboxes);
  });
  await app.ready();
  return app;
}

/** The app that the functions of routes receive. */
export type Routes = Pick<Awaited<ReturnType<typeof createControl>>, 'get' | 'post' | 'delete' | 'put'>;
