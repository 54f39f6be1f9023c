// A server of the Model Context Protocol over HTTP ("streamable HTTP"), as a function from a
// request to a response. Each client has sessions of its own. A client that stops without a
// farewell is removed after the idle time, so the number of clients and of sessions is bounded.

import { randomUUID } from 'node:crypto';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { DEFAULTS, type McpHandlerOptions } from './options.js';
import { makeServer, type OneServer } from './server.js';

const ID_HEADER = 'mcp-session-id';

/** Serves clients of the Model Context Protocol over HTTP. */
export interface McpHandler {
  /**
   * Answers a request. The caller has checked that the client may use the sandboxes. `body` is the
   * parsed body, if the caller has read the body.
   */
  fetch(request: Request, body?: unknown): Promise<Response>;
  /** Ends all clients and their sessions. */
  close(): Promise<void>;
}

interface Client extends OneServer {
  transport: WebStandardStreamableHTTPServerTransport;
  timer: NodeJS.Timeout | undefined;
}

/** Makes a handler. */
export function createMcpHandler(options: McpHandlerOptions): McpHandler {
  const { maxClients, idleMs } = { ...DEFAULTS, ...options };
  const clients = new Map<string, Client>();
  // Clients that have begun, and have no id yet.
  let beginning = 0;

  async function end(id: string): Promise<void> {
    const client = clients.get(id);
    if (client === undefined) return;
    clients.delete(id);
    clearTimeout(client.timer);
    await client.server.close().catch(() => {});
    await client.sessions.closeAll();
  }

  function wait(id: string, client: Client): void {
    clearTimeout(client.timer);
    client.timer = setTimeout(() => {
      if (client.pending.size > 0) wait(id, client);
      else void end(id);
    }, idleMs).unref();
  }

  async function begin(request: Request, body: unknown): Promise<Response> {
    if (clients.size + beginning >= maxClients) return refusal(429, `The server has ${maxClients} clients`);
    beginning++;
    try {
      const one = makeServer(options);
      const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => {
          const client = { ...one, transport, timer: undefined };
          clients.set(id, client);
          wait(id, client);
        },
        onsessionclosed: end,
      });
      await one.server.connect(transport);
      return await transport.handleRequest(request, { parsedBody: body });
    } finally {
      beginning--;
    }
  }

  return {
    async fetch(request, body) {
      const id = request.headers.get(ID_HEADER);
      if (id === null) return begin(request, body);
      const client = clients.get(id);
      if (client === undefined) return refusal(404, 'The client is not known. Initialize again.');
      wait(id, client);
      return client.transport.handleRequest(request, { parsedBody: body });
    },
    async close() {
      await Promise.all([...clients.keys()].map(end));
    },
  };
}

function refusal(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status });
}
