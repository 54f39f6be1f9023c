// A server of sandboxes for the suites, on a free port of the loopback.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromRoot } from '../build/paths.mjs';

/** A key of the form that older clients check. */
const KEY = `e2b_${'0'.repeat(40)}`;

/**
 * The environment of offline tests. They need a key, and replace the requests of the client. Live
 * tests then find no server, and must not repeat their requests.
 */
export const WITHOUT_SERVER = { E2B_API_KEY: KEY, E2B_CONNECTION_RETRIES: '0' };

/** Starts a server. Returns the clients' environment, and the function that ends the server. */
export async function startServer() {
  const { createServer } = await import(fromRoot('packages/server/dist/index.js'));
  const directory = mkdtempSync(join(tmpdir(), 'coldframe-e2b-'));
  const server = await createServer({ directory, apiKeys: [{ key: KEY }] });
  const { port } = await server.listen(0);
  const url = `http://127.0.0.1:${port}`;
  return {
    environment: { E2B_API_KEY: KEY, E2B_API_URL: url, E2B_SANDBOX_URL: url, E2B_TESTS_TEMPLATE: 'code-interpreter-v1' },
    close: async () => {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
