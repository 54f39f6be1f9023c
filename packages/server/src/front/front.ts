// The server's one listener: passes each request to the control plane or to a sandbox.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { refusalOf } from '../envd/access.js';
import { setCall } from '../envd/context.js';
import { signedOf } from '../envd/files.js';
import { INTERPRETER_PORT } from '../interpreter/app.js';
import type { Sandboxes } from '../sandboxes/sandboxes.js';
import { AGENT_PORT, type Target, targetOf } from './target.js';

/** The parts that the front passes requests to. */
export interface Planes {
  sandboxes: Sandboxes;
  control: RequestListener;
  agent: RequestListener;
  interpreter: RequestListener;
  /** Passes a request to a server in a sandbox. */
  port: (request: IncomingMessage, response: ServerResponse, target: Target) => void;
}

/** Makes the listener of the event `request`. */
export function createFront({ sandboxes, control, agent, interpreter, port }: Planes): RequestListener {
  return (request, response) => {
    const target = targetOf(request) ?? signer(request, sandboxes);
    if (target === undefined) return control(request, response);
    if (target === 'malformed') return refuse(response, 400, { message: 'The sandbox id or the port is malformed' });
    const found = sandboxes.running(target.id);
    if (found === undefined) {
      return refuse(response, 502, { sandboxId: target.id, message: 'The sandbox was not found' });
    }
    const service = target.port === AGENT_PORT ? agent : target.port === INTERPRETER_PORT ? interpreter : undefined;
    if (service === undefined) return port(request, response, target);
    setCall({ ...found, request });
    const release = found.sandbox.hold(request.socket);
    response.once('close', release);
    service(request, response);
  };
}

/** Answers a request with a status and JSON. */
export function refuse(response: ServerResponse, status: number, body: Record<string, unknown>): void {
  const text = JSON.stringify({ ...body, code: status });
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
}

// The origin of relative URLs, which has no effect.
const ORIGIN = 'http://localhost';

// Finds the sandbox whose token has signed the URL of a request.
function signer(request: IncomingMessage, sandboxes: Sandboxes): Target | undefined {
  const text = request.url ?? '/';
  if (!text.startsWith('/files?') || !URL.canParse(text, ORIGIN)) return undefined;
  const url = new URL(text, ORIGIN);
  if (!url.searchParams.has('signature')) return undefined;
  const signed = signedOf(url, request.method);
  for (const { id, accessToken } of sandboxes.held) {
    // An expired signature is still the signature of its sandbox, which says so.
    if (refusalOf({ ...signed }, accessToken, 0) === undefined) return { id, port: AGENT_PORT };
  }
  return undefined;
}
