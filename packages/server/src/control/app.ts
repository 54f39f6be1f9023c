// The control plane: REST over the sandboxes. Each noun has a file of routes. The description of
// all routes in OpenAPI is made from the schemas, and served at `/openapi.json`.

import swagger from '@fastify/swagger';
import type { Sidecar } from 'coldframe';
import Fastify, { type FastifyInstance } from 'fastify';
import { jsonSchemaTransform, serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Keys } from '../access/keys.js';
import type { Audit } from '../events/audit.js';
import type { Events } from '../events/events.js';
import type { Webhooks } from '../events/webhooks.js';
import type { Blobs } from '../fleet/blobs.js';
import { addMcpRoutes } from '../mcp/mcp.js';
import { addPageRoutes } from '../page/page.js';
import type { Registry } from '../registry/registry.js';
import type { Admission } from '../sandboxes/admission.js';
import type { Manifests } from '../sandboxes/manifests.js';
import type { Quotas } from '../sandboxes/quotas.js';
import type { Sandboxes } from '../sandboxes/sandboxes.js';
import type { SnapshotFiles } from '../sandboxes/snapshot-files.js';
import type { Secrets } from '../secrets/secrets.js';
import type { Log } from '../telemetry/log.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Builder } from '../templates/builder.js';
import type { Volumes } from '../volumes/volumes.js';
import { requireKey } from './authenticate.js';
import { checkEpoch } from './epoch.js';
import { addEventRoutes } from './events.js';
import { failureOf } from './failure.js';
import { addHealthRoutes } from './health.js';
import { addKeyRoutes } from './keys.js';
import { addNodeRoutes } from './node.js';
import { addObservationRoutes } from './observation.js';
import { addSandboxListRoutes } from './sandbox-lists.js';
import { addSandboxRoutes } from './sandboxes.js';
import type { Stated } from './schemas/sandboxes.js';
import { addSecretRoutes } from './secrets.js';
import { addSnapshotImportRoute } from './snapshot-import.js';
import { addSnapshotRoutes } from './snapshots.js';
import { addTeamRoutes } from './teams.js';
import { addTemplateBuildRoutes } from './template-builds.js';
import { addTemplateTagRoutes } from './template-tags.js';
import { addTemplateRoutes } from './templates.js';
import { addUploadRoutes } from './uploads.js';
import { addVolumeContentRoutes, addVolumeUploadRoute } from './volume-content.js';
import { addVolumeRoutes } from './volumes.js';

const BODY_BYTES = 1 << 20;
/** Seconds after which a client repeats a refused request. */
const RETRY_S = 1;
/** The statuses of requests that a client may repeat later, here or at another server. */
const RETRIED: ReadonlySet<number> = new Set([429, 503]);

/** The parts of the server that the routes use. */
export interface Control {
  sandboxes: Sandboxes;
  registry: Registry;
  builder: Builder;
  blobs: Blobs;
  volumes: Volumes;
  secrets: Secrets;
  quotas: Quotas;
  webhooks: Webhooks;
  keys: Keys;
  audit: Audit;
  log: Log;
  telemetry: Telemetry;
  events: Events;
  sidecar: Sidecar;
  manifests: Manifests;
  admission: Admission;
  snapshotFiles: SnapshotFiles;
  /** The facts of the server that responses state. */
  stated: Stated;
  /** The key of the links for uploads. */
  uploadKey: Buffer;
  /** Whether webhooks may have URLs without TLS and private addresses. */
  allowPrivateWebhooks: boolean;
}

/** Makes the control plane. The caller passes requests to `app.routing`. */
export async function createControl(control: Control) {
  const { keys, audit, log, telemetry } = control;
  const app = Fastify({
    bodyLimit: BODY_BYTES,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler);
  app.decorateRequest('tenant', '');
  acceptJson(app);
  await app.register(swagger, {
    openapi: {
      openapi: '3.0.3',
      info: { title: 'Coldframe', version: '1', description: 'The routes of a server of sandboxes.' },
    },
    transform: jsonSchemaTransform,
  });
  app.setErrorHandler((error, request, reply) => {
    const body = failureOf(error);
    if (RETRIED.has(body.code)) reply.header('retry-after', String(RETRY_S));
    if (body.code >= 500 && !RETRIED.has(body.code))
      log.error('request', { method: request.method, path: request.routeOptions.url, error: String((error as Error).stack) });
    return reply.code(body.code).send(body);
  });
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send({ code: 404, message: `no such route: ${request.method} ${request.url.split('?', 1)[0]}` }),
  );
  app.addHook('onResponse', async (request, reply) => {
    const { method, tenant } = request;
    const route = request.routeOptions.url ?? 'unknown';
    telemetry.requests.add({ method, route, status: String(reply.statusCode) });
    telemetry.durations.observe(reply.elapsedTime / 1_000, { route });
    log.info('request', { method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime * 10) / 10, tenant });
    if (method !== 'GET' && tenant !== '') {
      audit.write({
        kind: 'request',
        tenant,
        key: request.caller.keyId,
        method,
        path: request.url.split('?', 1)[0],
        status: reply.statusCode,
      });
    }
  });
  addHealthRoutes(app, control);
  addPageRoutes(app, control);
  await app.register(async (uploads) => addUploadRoutes(uploads.withTypeProvider<ZodTypeProvider>(), control));
  await app.register(async (content) => addVolumeContentRoutes(content.withTypeProvider<ZodTypeProvider>(), control));
  await app.register(async (content) => addVolumeUploadRoute(content.withTypeProvider<ZodTypeProvider>(), control));
  await app.register(async (imports) => addSnapshotImportRoute(imports.withTypeProvider<ZodTypeProvider>(), control));
  await app.register(async (routes) => {
    routes.addHook('onRequest', requireKey(keys, audit));
    routes.addHook('preHandler', checkEpoch(control.sandboxes));
    const typed = routes.withTypeProvider<ZodTypeProvider>();
    for (const add of ROUTES) add(typed, control);
  });
  await app.ready();
  return app;
}

const ROUTES = [
  addSandboxRoutes,
  addSandboxListRoutes,
  addObservationRoutes,
  addSnapshotRoutes,
  addTemplateRoutes,
  addTemplateBuildRoutes,
  addTemplateTagRoutes,
  addVolumeRoutes,
  addSecretRoutes,
  addEventRoutes,
  addKeyRoutes,
  addTeamRoutes,
  addNodeRoutes,
  addMcpRoutes,
];

// Some clients announce JSON and send no body.
function acceptJson(app: Pick<FastifyInstance, 'removeContentTypeParser' | 'addContentTypeParser'>): void {
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(body as string));
    } catch (error) {
      done(Object.assign(error as Error, { statusCode: 400 }));
    }
  });
}

/** The app that the functions of routes receive. */
export type Routes = Pick<
  Awaited<ReturnType<typeof createControl>>,
  'get' | 'post' | 'delete' | 'put' | 'patch' | 'removeAllContentTypeParsers' | 'addContentTypeParser' | 'swagger' | 'addHook'
>;
