// One server of the Model Context Protocol with its sessions, for one client. A transport connects
// the server. Next: `tools.ts`, `sessions.ts`.

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { VERSION } from '../version.js';
import { DEFAULTS, type McpOptions } from './options.js';
import { Sessions } from './sessions.js';
import { registerTools } from './tools.js';

const instructions = (
  folder: string,
): string => `Runs untrusted Node.js code and shell commands in a sandbox without network access
to other machines. Files are in ${folder} and stay in the session. Take a snapshot before a risky step, and roll back after it.`;

/** A server with its sessions, and the calls in progress. */
export interface OneServer {
  server: McpServer;
  sessions: Sessions;
  pending: ReadonlySet<Promise<unknown>>;
}

/** Makes the server of one client. */
export function makeServer(options: McpOptions): OneServer {
  const { maxSessions, idleMs, timeoutMs, folder } = { ...DEFAULTS, ...options };
  const sessions = new Sessions(options, { maxSessions, idleMs });
  const server = new McpServer({ name: 'coldframe', version: VERSION }, { instructions: instructions(folder) });
  return { server, sessions, pending: registerTools(server, sessions, { timeoutMs, folder }) };
}
