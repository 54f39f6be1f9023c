// Forwards one request of a gateway to a guest. The runtime keeps connections for later requests in
// its present state. So after a rollback, no request uses a connection of the earlier state.
//
// The guest may close a kept connection before a request arrives. Such a request is sent again
// over a new connection. Only requests that can be repeated use kept connections. An upgrade has a
// connection of its own, and so has each request to an object that only connects.
//
// Node parses and writes both sides, so bytes of a client's head never reach a guest unread. Bodies
// are passed on as they arrive, so that events of a server arrive at once.

import type { ClientRequest, IncomingMessage, RequestOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { gatewayRefused } from '../errors/make.js';
import type { GatewayOptions, GatewayRuntime, GatewayTarget } from '../options/gateway.js';
import { requireBuiltin } from '../packages/installed.js';
import { partsOf } from '../runtime/node-runtime.js';
import { eachPassed, hasBody, requestHeaders } from './headers.js';
import { refuse, refuseUpgrade } from './refusal.js';

/** The destination of a request. */
export interface Destination extends GatewayTarget {
  readonly runtime: GatewayRuntime;
  /** The header `host` of the request to the guest. */
  readonly guestHost: string;
  /** The header `host` of the client's request. */
  readonly clientHost: string;
  /** Milliseconds until the head of the guest's response must have arrived. */
  readonly headTimeoutMs: number;
  /** The option `refusal` of the gateway. */
  readonly refusal: GatewayOptions['refusal'];
}

type OnUpgrade = (answer: IncomingMessage, guest: Duplex, head: Buffer) => void;
type Refuse = (error: ReturnType<typeof gatewayRefused>) => void;

/** Methods whose requests usually have no body, so that no length is stated. */
const WITHOUT_BODY = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'TRACE']);
/** Methods that change nothing (RFC 9110, 9.2.1), so that a request may be sent twice. */
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Forwards a request and its response. */
export function forward(request: IncomingMessage, response: ServerResponse, to: Destination): void {
  pass(request, response, to, REPEATABLE.has(request.method ?? 'GET') && !hasBody(request));
}

// `isRepeatable`: the request may use a kept connection.
function pass(request: IncomingMessage, response: ServerResponse, to: Destination, isRepeatable: boolean): void {
  const headers = requestHeaders(request, to.guestHost, to.clientHost);
  const { method = 'GET', headers: given } = request;
  if (given['transfer-encoding'] !== undefined) headers.push('Transfer-Encoding', 'chunked');
  else if (given['content-length'] === undefined && !WITHOUT_BODY.has(method)) headers.push('Content-Length', '0');
  let upstream: ClientRequest | undefined;
  const fail: Refuse = (error) => {
    const isClosed = upstream?.reusedSocket === true && (error.cause as { code?: unknown } | undefined)?.code === 'ECONNRESET';
    if (isRepeatable && isClosed && !response.destroyed) pass(request, response, to, false);
    else refuse(response, error, to.refusal);
  };
  upstream = open(request, headers, to, fail, { isKept: isRepeatable });
  if (upstream === undefined) return;
  const sent = upstream;
  response.on('close', () => sent.destroy());
  sent.on('response', (answer) => {
    answer.on('error', () => response.destroy());
    try {
      passHead(answer, response);
    } catch {
      refuse(response, gatewayRefused('response', to), to.refusal);
      sent.destroy();
      return;
    }
    answer.on('end', () => passTrailers(answer, response));
    answer.pipe(response);
  });
  if (hasBody(request)) request.pipe(sent);
  else sent.end();
}

/** Forwards a request for an upgrade. Afterwards passes bytes in both directions. */
export function forwardUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, to: Destination): void {
  const headers = requestHeaders(request, to.guestHost, to.clientHost);
  headers.push('Connection', 'Upgrade', 'Upgrade', request.headers.upgrade ?? '');
  const onUpgrade: OnUpgrade = (answer, guest, guestHead) => {
    socket.write(headOf(answer, ['Connection: Upgrade', `Upgrade: ${answer.headers.upgrade ?? ''}`]), 'latin1');
    if (guestHead.length > 0) socket.write(guestHead);
    if (head.length > 0) guest.write(head);
    relay(socket, guest);
  };
  const upstream = open(request, headers, to, (error) => refuseUpgrade(socket, error, to.refusal), { onUpgrade });
  if (upstream === undefined) return;
  socket.on('close', () => upstream.destroy());
  upstream.on('response', (answer) => {
    // The guest has not accepted the upgrade. The end of the connection ends the body.
    answer.on('error', () => socket.destroy());
    socket.write(headOf(answer, ['Connection: close']), 'latin1');
    answer.pipe(socket);
  });
  upstream.end();
}

// Begins a request to the guest, over a kept connection if `isKept` is set. Calls `fail` at most
// once, before a response. Without `onUpgrade`, a response that upgrades the connection is a
// failure.
function open(
  request: IncomingMessage,
  headers: string[],
  to: Destination,
  fail: Refuse,
  { onUpgrade, isKept = false }: { onUpgrade?: OnUpgrade; isKept?: boolean },
): ClientRequest | undefined {
  const options: RequestOptions = {
    method: request.method,
    path: request.url,
    headers: headers as unknown as NonNullable<RequestOptions['headers']>,
    setHost: false,
    port: to.port,
  };
  let upstream: ClientRequest;
  try {
    const agent = isKept ? partsOf(to.runtime)?.network.agent() : undefined;
    if (agent !== undefined) options.agent = agent;
    else options.createConnection = () => to.runtime.connect({ port: to.port, allowHalfOpen: true });
    upstream = requireBuiltin('node:http').request(options);
  } catch (error) {
    fail(gatewayRefused(reasonOf(error), to, error));
    return undefined;
  }
  let isOver = false;
  const end = (reason?: Reason, error?: unknown): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    if (reason !== undefined) fail(gatewayRefused(reason, to, error));
  };
  const timer = setTimeout(() => {
    end('timeout');
    upstream.destroy();
  }, to.headTimeoutMs);
  upstream.on('response', () => end()).on('error', (error) => end(reasonOf(error), error));
  if (onUpgrade !== undefined) {
    upstream.on('upgrade', (...upgraded) => {
      end();
      onUpgrade(...upgraded);
    });
  }
  // A connection closes without an error if the guest upgrades a request that asked for no upgrade.
  upstream.on('close', () => end('response'));
  return upstream;
}

type Reason = Parameters<typeof gatewayRefused>[0];

function reasonOf(error: unknown): Reason {
  const code = String((error as { code?: unknown } | null)?.code);
  if (code === 'ECONNREFUSED') return 'not-listening';
  return code === 'ECONNRESET' || code.startsWith('HPE_') ? 'response' : 'unavailable';
}

// Throws if Node refuses a part of the head.
function passHead(answer: IncomingMessage, response: ServerResponse): void {
  const values = new Map<string, [name: string, ...values: string[]]>();
  eachPassed(answer, (name, value) => {
    const key = name.toLowerCase();
    const known = values.get(key);
    if (known === undefined) values.set(key, [name, value]);
    else known.push(value);
  });
  for (const [name, ...all] of values.values()) response.setHeader(name, all.length === 1 ? (all[0] as string) : all);
  if (response.req.httpVersionMajor < 2) response.statusMessage = answer.statusMessage ?? '';
  response.writeHead(answer.statusCode ?? 0);
  response.flushHeaders();
}

function passTrailers({ trailers }: IncomingMessage, response: ServerResponse): void {
  if (Object.keys(trailers).length === 0) return;
  try {
    response.addTrailers(trailers as Record<string, string>);
  } catch {
    response.destroy();
  }
}

function headOf(answer: IncomingMessage, own: string[]): string {
  const lines = [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`, ...own];
  eachPassed(answer, (name, value) => lines.push(`${name}: ${value}`));
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function relay(client: Duplex, guest: Duplex): void {
  client.pipe(guest).pipe(client);
  client.on('error', () => guest.destroy());
  guest.on('error', () => client.destroy());
  client.on('close', () => guest.destroy());
  guest.on('close', () => client.destroy());
}
