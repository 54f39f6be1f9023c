// The routes without a key: the health and the readiness of the server, and the description of all
// routes. The server's own counters need a key of an administrator.

import type { Control, Routes } from './app.js';
import { requireKey } from './authenticate.js';

const tags = ['server'];

/** Adds the routes. */
export function addHealthRoutes(app: Routes, { registry, sandboxes, admission, telemetry, keys, audit }: Control): void {
  app.get('/health', { schema: { tags, summary: 'Whether the process answers' } }, (_, reply) => reply.code(204).send());
  app.get('/ready', { schema: { tags, summary: 'Whether the server accepts new sandboxes' } }, (_, reply) => {
    if (admission.state !== 'ready' || !registry.check()) {
      return reply.code(503).send({ code: 503, message: 'The server does not accept new sandboxes' });
    }
    return reply.code(204).send();
  });
  app.get('/openapi.json', { schema: { tags, summary: 'The description of all routes' } }, () => app.swagger());
  const metrics = {
    onRequest: requireKey(keys, audit),
    config: { scope: 'admin' },
    schema: { tags, summary: "The server's own counters" },
  } as const;
  app.get('/metrics', metrics, (_, reply) => {
    const { rss, heapUsed } = process.memoryUsage();
    const gauges = [
      { name: 'coldframe_sandboxes', help: 'Sandboxes that the process holds.', value: sandboxes.size },
      { name: 'coldframe_resident_memory_bytes', help: 'Memory of the process.', value: rss },
      { name: 'coldframe_heap_bytes', help: 'Memory of the objects of the process.', value: heapUsed },
      { name: 'coldframe_epoch', help: 'The number of starts of the server.', value: registry.epoch },
    ];
    return reply.type('application/openmetrics-text; version=1.0.0; charset=utf-8').send(telemetry.text(gauges));
  });
}
