// The server's one listener: passes each request to the control plane, to the agent of a sandbox,
// or to a server in a sandbox.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Tokens } from '../access/tokens.js';
import { refusalOf } from '../envd/access.js';
import { setCall } from '../envd/context.js';
import { signedOf } from '../envd/files.js';
import type { Coordinator } from '../fleet/coordinator.js';
import type { SandboxRecord } from '../registry/records.js';
import type { Sandbox } from '../sandboxes/sandbox.js';
import type { Sandboxes } from '../sandboxes/sandboxes.js';
import { Budget } from './budget.js';
import type { Ports } from './ports.js';
import {
  malformed,
  notResumed,
  type Refusal,
  refuse,
  refuseUpgrade,
  sandboxElsewhere,
  sandboxMissing,
  sandboxPaused,
  tokenWrong,
  tooManySignatures,
} from './refusal.js';
import { AGENT_PORT, type Target, targetOf } from './target.js';

/** The parts that the front passes requests to. */
export interface Planes {
  sandboxes: Sandboxes;
  coordinator: Coordinator;
  tokens: Tokens;
  control: RequestListener;
  /** Services that the server has at a port of every sandbox, such as the agent. */
  services: ReadonlyMap<number, RequestListener>;
  ports: Ports;
  /** Is notified of each request to a sandbox. */
  onRequest: (kind: 'agent' | 'port') => void;
}

/** The listeners of the server's events. */
export interface Front {
  request: RequestListener;
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/**
 * Signatures that are compared in a second. A URL names no sandbox, so one URL is compared with the
 * signature of each sandbox.
 */
const SIGNATURES_PER_SECOND = 100_000;
/** The header with the token of requests to servers in a sandbox. */
const TRAFFIC_TOKEN = 'e2b-traffic-access-token';

interface Reached {
  target: Target;
  record: SandboxRecord;
  sandbox: Sandbox;
}

/** Makes the listeners. */
export function createFront(planes: Planes): Front {
  const { sandboxes, tokens, control, services, ports, onRequest } = planes;
  const budget = new Budget(SIGNATURES_PER_SECOND);

  const serve = (request: IncomingMessage, response: ServerResponse, { target, record, sandbox }: Reached): void => {
    const release = sandbox.hold(request.socket);
    response.once('close', release);
    const service = services.get(target.port);
    onRequest(service === undefined ? 'port' : 'agent');
    if (service === undefined) ports.request(request, response, target);
    else {
      setCall({ record, sandbox, request, isOpenedBy: (token) => tokens.opens(token, 'agent', record) });
      service(request, response);
    }
  };
  return {
    request: (request, response) => {
      const target = targetOf(request) ?? signer(request, sandboxes, budget);
      if (target === undefined) return control(request, response);
      if (target === 'exhausted') return refuse(response, tooManySignatures());
      const reached = reach(request, target, planes);
      if (!(reached instanceof Promise)) {
        if ('status' in reached) refuse(response, reached);
        else serve(request, response, reached);
        return;
      }
      void reached.then((found) => {
        if ('status' in found) refuse(response, found);
        else if (!response.destroyed) serve(request, response, found);
      });
    },
    upgrade: (request, socket, head) => {
      socket.on('error', () => {});
      const target = targetOf(request);
      if (target === undefined) return refuseUpgrade(socket, malformed());
      void Promise.resolve(reach(request, target, planes)).then((found) => {
        if ('status' in found) return refuseUpgrade(socket, found);
        if (socket.destroyed) return undefined;
        if (services.has(found.target.port)) return refuseUpgrade(socket, malformed());
        onRequest('port');
        const release = found.sandbox.hold(socket as Socket);
        socket.once('close', release);
        return ports.upgrade(request, socket, head, found.target);
      });
    },
  };
}

// Finds the sandbox of a request. Resumes the sandbox if its client wants that.
function reach(
  request: IncomingMessage,
  target: Target | 'malformed',
  planes: Planes,
): Reached | Refusal | Promise<Reached | Refusal> {
  if (target === 'malformed') return malformed();
  const { sandboxes, coordinator } = planes;
  const { id } = target;
  const found = sandboxes.running(id);
  if (found !== undefined) return tokenRefusal(request, target, found.record, planes) ?? { target, ...found };
  const asleep = sandboxes.asleep(id);
  if (asleep === undefined) {
    const place = coordinator.locate(id);
    if (typeof place === 'object') return sandboxElsewhere(id, place.url);
    return sandboxes.isPaused(id) ? sandboxPaused(id) : sandboxMissing(id);
  }
  // A request without the token resumes no sandbox.
  const refusal = tokenRefusal(request, target, asleep, planes);
  if (refusal !== undefined) return refusal;
  return sandboxes.wake(id).then(
    (woken) => (woken === undefined ? sandboxMissing(id) : { target, ...woken }),
    (error: Error) => notResumed(id, error.message),
  );
}

// Checks the token of requests to servers, and keeps the token from the servers.
function tokenRefusal(
  request: IncomingMessage,
  { id, port }: Target,
  record: SandboxRecord,
  { services, tokens }: Planes,
): Refusal | undefined {
  if (record.trafficToken === undefined || port === AGENT_PORT) return undefined;
  const given = request.headers[TRAFFIC_TOKEN];
  if (typeof given !== 'string' || !tokens.opens(given, 'traffic', record)) return tokenWrong(id, given === undefined);
  if (!services.has(port)) removeHeader(request, TRAFFIC_TOKEN);
  return undefined;
}

// The gateway passes on the headers as they arrived.
function removeHeader({ rawHeaders, headers }: IncomingMessage, name: string): void {
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) if (rawHeaders[at]?.toLowerCase() === name) rawHeaders.splice(at, 2);
  delete headers[name];
}

// The origin of relative URLs, which has no effect.
const ORIGIN = 'http://localhost';

// Finds the sandbox whose token has signed the URL of a request.
function signer(request: IncomingMessage, sandboxes: Sandboxes, budget: Budget): Target | 'exhausted' | undefined {
  const text = request.url ?? '/';
  if (!text.startsWith('/files?') || !URL.canParse(text, ORIGIN)) return undefined;
  const url = new URL(text, ORIGIN);
  if (!url.searchParams.has('signature')) return undefined;
  if (!budget.take(Math.min(sandboxes.size, SIGNATURES_PER_SECOND))) return 'exhausted';
  const signed = signedOf(url, request.method);
  for (const { id, accessToken } of sandboxes.held) {
    // An expired signature is still the signature of its sandbox, which says so.
    if (refusalOf({ ...signed }, accessToken, 0) === undefined) return { id, port: AGENT_PORT };
  }
  return undefined;
}
