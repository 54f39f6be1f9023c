// Assembles the server: the registry, the sidecar, the sandboxes, the planes, and the listener.

import { mkdir } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Sidecar } from 'coldframe';
import { createControl } from './control/app.js';
import { tenantOf } from './control/keys.js';
import { createAgent } from './envd/agent.js';
import { createFront, refuse } from './front/front.js';
import { ServerOptions } from './options.js';
import { openRegistry } from './registry/sqlite.js';
import { Sandboxes } from './sandboxes/sandboxes.js';
import { createTerminals } from './terminal/terminals.js';

/** A server that accepts requests after `listen()`. */
export interface Server {
  /** Listens at a port of `host`. Port 0 is a free port. Returns the address. */
  listen(port: number, host?: string): Promise<AddressInfo>;
  /** Ends all connections and running sandboxes. Paused sandboxes stay on disk. */
  close(): Promise<void>;
}

/**
 * Creates a server with its registry and its sidecar.
 *
 * @throws if an option is wrong, or if the registry cannot be opened
 */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { directory, apiKeys, domain, tls } = ServerOptions.parse(options);
  await mkdir(directory, { recursive: true });
  const registry = openRegistry(join(directory, 'registry.db'), Date.now());
  const sidecar = await Sidecar.spawn({ snapshots: { directory: join(directory, 'snapshots') } });
  const sandboxes = new Sandboxes(registry, sidecar);
  const [control, agent] = await Promise.all([createControl({ sandboxes, registry, domain }, apiKeys), createAgent()]);
  const front = createFront({
    sandboxes,
    control: (request, response) => control.routing(request, response),
    agent: (request, response) => agent.routing(request, response),
    port: (_, response, { id, port }) =>
      refuse(response, 501, { sandboxId: id, port, message: 'Requests to servers in sandboxes are not available' }),
  });
  // Streams are open for as long as their programs run.
  const times = { requestTimeout: 0, headersTimeout: 60_000, keepAliveTimeout: 620_000 };
  const server = tls === undefined ? createHttpServer(times, front) : createHttpsServer({ ...times, ...tls }, front);
  const terminals = createTerminals({ sandboxes, tenantOf: (key) => tenantOf(apiKeys, key) });
  server.on('upgrade', (request, socket, head) => {
    if (!terminals(request, socket, head)) socket.destroy();
  });
  return {
    listen: (port, host = '127.0.0.1') =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => resolve(server.address() as AddressInfo));
      }),
    close: async () => {
      server.close();
      await sandboxes.close();
      server.closeAllConnections();
      await Promise.all([control.close(), agent.close(), sidecar.dispose()]);
      registry.close();
    },
  };
}
