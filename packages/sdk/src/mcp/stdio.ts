// A server of the Model Context Protocol on stdin and stdout, for one client.

import { setImmediate } from 'node:timers/promises';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { McpOptions } from './options.js';
import { makeServer } from './server.js';

/**
 * Serves the client at stdin and stdout. Resolves when the client has closed stdin and all its
 * calls have their results.
 */
export async function serveMcp(options: McpOptions): Promise<void> {
  const { server, pending } = makeServer(options);
  const ended = new Promise<void>((resolve) => {
    const finish = async (): Promise<void> => {
      // A call begins, and its result is written, in a turn of the event loop of its own.
      await setImmediate();
      while (pending.size > 0) {
        await Promise.allSettled(pending);
        await setImmediate();
      }
      resolve();
    };
    process.stdin.once('end', finish);
    process.stdin.once('close', finish);
  });
  await server.connect(new StdioServerTransport());
  await ended;
}
