// A server in this process for tests, with a folder of its own.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from '../../dist/index.js';

export const KEY = `e2b_${'0'.repeat(40)}`;

/** A started server. */
export interface Started {
  url: string;
  directory: string;
  close(): Promise<void>;
}

/** Starts a server with two tenants. */
export async function startServer(): Promise<Started> {
  const directory = await mkdtemp(join(tmpdir(), 'coldframe-server-'));
  const apiKeys = [
    { key: KEY, tenant: 'one' },
    { key: 'other', tenant: 'two' },
  ];
  const server = await createServer({ directory, apiKeys });
  const { port } = await server.listen(0);
  return {
    url: `http://127.0.0.1:${port}`,
    directory,
    close: async () => {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}
