// The response of a gateway to a request that does not reach a guest: a status of HTTP, and the
// error as JSON.

import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ColdframeErrorOf } from '../errors/error.js';
import { requireBuiltin } from '../packages/installed.js';

type GatewayError = ColdframeErrorOf<'ERR_GATEWAY'>;

function bodyOf({ code, message, reason, sandbox, port }: GatewayError): string {
  return JSON.stringify({ code, message, reason, sandbox, port });
}

/** Answers a request with an error. If the head of a response was sent, ends the connection. */
export function refuse(response: ServerResponse, error: GatewayError): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = bodyOf(error);
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.statusMessage = '';
  response.writeHead(error.status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** Answers a request for an upgrade with an error, and ends the connection. */
export function refuseUpgrade(socket: Duplex, error: GatewayError): void {
  const body = bodyOf(error);
  const head = [
    `HTTP/1.1 ${error.status} ${requireBuiltin('node:http').STATUS_CODES[error.status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
