// The routes about this server: its capacity, and whether it accepts new sandboxes. A gateway in
// front of several servers chooses a server by these facts.

import { availableParallelism, loadavg, totalmem } from 'node:os';
import { z } from 'zod';
import type { Control, Routes } from './app.js';

const tags = ['server'];
const CordonBody = z.object({ cordoned: z.boolean() });

/** Adds the routes. */
export function addNodeRoutes(app: Routes, { registry, sandboxes, admission, sidecar, stated }: Control): void {
  const schema = { tags, summary: 'The capacity of the server' };
  app.get('/node', { schema, config: { scope: 'admin' } }, ({ tenant }) => {
    const full = admission.fullReason(sandboxes.size);
    return {
      home: registry.home,
      epoch: registry.epoch,
      // The images whose snapshots the server can restore.
      images: [sidecar.imageVersion],
      state: admission.state,
      isFull: full !== undefined,
      ...(full === undefined ? {} : { full }),
      sandboxes: sandboxes.size,
      sandboxesMax: admission.capacity.sandboxes,
      cpus: availableParallelism(),
      load: loadavg()[0],
      memoryBytes: totalmem(),
      memoryAvailableBytes: admission.availableBytes,
      memoryReserveBytes: admission.capacity.reserveBytes,
      processMemoryBytes: process.memoryUsage.rss(),
      sandboxMemoryBytes: stated.memoryBytes,
      sandboxDiskBytes: stated.diskBytes,
      // The templates of the key's tenant that are on the disk of this server.
      templates: registry.templates.warm(tenant),
    };
  });
  const cordon = { tags, body: CordonBody, summary: 'Refuse or accept new sandboxes' };
  // An administrator of one tenant does not decide for all tenants.
  app.put('/node/cordon', { schema: cordon, config: { scope: 'operator' } }, ({ body }, reply) => {
    admission.setCordon(body.cordoned);
    return reply.code(204).send();
  });
}
