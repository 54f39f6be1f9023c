// The headers that a gateway passes on. Headers about one connection are never passed on. The guest
// receives the addresses of the client from the gateway alone.

import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

/** The name of the header with the token. */
export const TOKEN_HEADER = 'coldframe-token';

/** Headers about one connection (RFC 9110, 7.6.1), and `expect`, which Node's server answers. */
const OF_CONNECTION = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const OF_GATEWAY = /^(coldframe-token|forwarded|host|x-forwarded-.*)$/;

/** Calls `visit` for each header that may be passed on. */
export function eachPassed(message: IncomingMessage, visit: (name: string, value: string) => void): void {
  const { rawHeaders, headers } = message;
  const named = new Set((headers.connection ?? '').toLowerCase().split(/[\s,]+/));
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string];
    const key = name.toLowerCase();
    // A name of HTTP/2 that begins with a colon is no header.
    if (!OF_CONNECTION.has(key) && !named.has(key) && !key.startsWith(':')) visit(name, value);
  }
}

/** Returns the values of the header `name`. */
export function valuesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
}

/** Returns the headers of the request to the guest, as names and values in turns. */
export function requestHeaders(request: IncomingMessage, host: string, clientHost: string): string[] {
  const headers = ['Host', host];
  eachPassed(request, (name, value) => {
    if (!OF_GATEWAY.test(name.toLowerCase())) headers.push(name, value);
  });
  const { remoteAddress } = request.socket;
  if (remoteAddress !== undefined) headers.push('X-Forwarded-For', remoteAddress);
  headers.push('X-Forwarded-Host', clientHost);
  headers.push('X-Forwarded-Proto', (request.socket as TLSSocket).encrypted === true ? 'https' : 'http');
  return headers;
}

/** Returns whether the request announces a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return encoding !== undefined || (length !== undefined && Number(length) !== 0);
}
