// The gateway: HTTP and WebSocket from the browsers of users to servers in runtimes.
//
// The app mounts the two listeners at its own server of HTTP or HTTPS. A host name names the
// runtime and the port, so pages of two runtimes have two origins. Next: `host-name.ts`, then
// `forward.ts`.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { callListener } from '../call-listener.js';
import type { ColdframeErrorOf } from '../errors/error.js';
import { gatewayRefused } from '../errors/make.js';
import { checkGivenOptions } from '../options/check.js';
import type { GatewayOptions, GatewayTarget } from '../options/gateway.js';
import { requireBuiltin } from '../packages/installed.js';
import type { Destination } from './forward.js';
import { hasBody, TOKEN_HEADER, valuesOf } from './headers.js';
import { targetOf } from './host-name.js';

const DEFAULT_HOST = 'localhost:PORT';
const DEFAULT_HEAD_TIMEOUT_MS = 300_000;

/** The listeners of a gateway, for the events of a server of Node. */
export interface Gateway {
  /** Handles the event `request`. */
  readonly request: (request: IncomingMessage, response: ServerResponse) => void;
  /** Handles the event `upgrade`. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/**
 * Makes a gateway to servers in runtimes. The host name `<port>-<id>.<domain>` names the port and
 * the runtime. Requests that reach no guest are answered with the status and the JSON of
 * `ERR_GATEWAY`.
 * @throws `ERR_INVALID_OPTION`
 */
export function createGateway(options: GatewayOptions): Gateway {
  checkGivenOptions('createGateway()', options);
  const own = { ...options };
  return {
    request(request, response) {
      response.on('error', () => {});
      route(request, own).then(async ({ error, to }) => {
        const [{ forward }, { refuse }] = await Promise.all([import('./forward.js'), import('./refusal.js')]);
        if (error !== undefined) refuse(response, error, own.refusal);
        else if (!response.destroyed) forward(request, response, to);
      });
    },
    upgrade(request, socket, head) {
      socket.on('error', () => {});
      route(request, own).then(async ({ error, to }) => {
        const [{ forwardUpgrade }, { refuseUpgrade }] = await Promise.all([import('./forward.js'), import('./refusal.js')]);
        // Node passes the bytes of such a body as bytes after the upgrade.
        if (error !== undefined) refuseUpgrade(socket, error, own.refusal);
        else if (hasBody(request)) refuseUpgrade(socket, gatewayRefused('target', to), own.refusal);
        else if (!socket.destroyed) forwardUpgrade(request, socket, head, to);
      });
    },
  };
}

type Route = { error: ColdframeErrorOf<'ERR_GATEWAY'>; to?: never } | { error?: never; to: Destination };

// Finds the destination of a request. Never rejects.
async function route(request: IncomingMessage, options: GatewayOptions): Promise<Route> {
  const hosts = request.httpVersionMajor < 2 ? valuesOf(request, 'host') : valuesOf(request, ':authority');
  const [clientHost] = hosts;
  const target = clientHost !== undefined && hosts.length === 1 ? named(request, clientHost, options) : undefined;
  if (clientHost === undefined || target === undefined) return { error: gatewayRefused('host', {}) };
  if (!/^(\/|\*$)/.test(request.url ?? '')) return { error: gatewayRefused('target', target) };
  const { headTimeoutMs = DEFAULT_HEAD_TIMEOUT_MS, refusal } = options;
  try {
    const token = typeof options.token === 'function' ? await options.token(target.id) : options.token;
    if (token !== undefined && !hasToken(request, token)) return { error: gatewayRefused('token', target) };
    const runtime = await options.resolve(target.id, request);
    if (runtime === undefined || runtime === null) return { error: gatewayRefused('not-found', target) };
    const guestHost = hostFor(target, options);
    return { to: { ...target, runtime, guestHost, clientHost, headTimeoutMs, refusal } };
  } catch (error) {
    report(error, options.onError);
    return { error: gatewayRefused('unavailable', target) };
  }
}

function named(request: IncomingMessage, host: string, { domain, target }: GatewayOptions): GatewayTarget | undefined {
  return target === undefined ? targetOf(host, domain as string) : target(request);
}

function hostFor(target: GatewayTarget, { requestHost = DEFAULT_HOST }: GatewayOptions): string {
  const host = typeof requestHost === 'function' ? (requestHost(target) ?? DEFAULT_HOST) : requestHost;
  return host.replaceAll('PORT', String(target.port));
}

// The time of the comparison does not depend on the bytes of the tokens.
function hasToken(request: IncomingMessage, token: string): boolean {
  const { createHash, timingSafeEqual } = requireBuiltin('node:crypto');
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const given = valuesOf(request, TOKEN_HEADER);
  return given.length === 1 && timingSafeEqual(digest(given[0] as string), digest(token));
}

function report(error: unknown, onError: GatewayOptions['onError']): void {
  if (onError !== undefined) callListener(() => onError(error));
  else process.emitWarning(error instanceof Error ? error : new Error(String(error)));
}
