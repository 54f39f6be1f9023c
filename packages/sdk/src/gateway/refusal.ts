// The response of a gateway to a request that does not reach a guest: a status of HTTP, and the
// error as JSON.

import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ColdframeErrorOf } from '../errors/error.js';
import type { GatewayOptions, GatewayRefusal } from '../options/gateway.js';
import { requireBuiltin } from '../packages/installed.js';

type GatewayError = ColdframeErrorOf<'ERR_GATEWAY'>;

type Refusal = GatewayOptions['refusal'];

const ownRefusal = ({ code, message, reason, sandbox, port, status }: GatewayError): GatewayRefusal => ({
  status,
  body: JSON.stringify({ code, message, reason, sandbox, port }),
});

/** Answers a request with an error. If the head of a response was sent, ends the connection. */
export function refuse(response: ServerResponse, error: GatewayError, refusal: Refusal = ownRefusal): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, body } = refusal(error);
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.statusMessage = '';
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** Answers a request for an upgrade with an error, and ends the connection. */
export function refuseUpgrade(socket: Duplex, error: GatewayError, refusal: Refusal = ownRefusal): void {
  const { status, body } = refusal(error);
  const head = [
    `HTTP/1.1 ${status} ${requireBuiltin('node:http').STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
