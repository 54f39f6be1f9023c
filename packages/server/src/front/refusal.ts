// The responses to requests that reach no sandbox, in the words that clients compare.

import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** A status, and a body of JSON. */
export interface Refusal {
  status: number;
  body: string;
}

const refusal = (code: number, facts: Record<string, unknown>): Refusal => ({
  status: code,
  body: JSON.stringify({ ...facts, code }),
});

/** The target has no valid id or port. */
export const malformed = (): Refusal => refusal(400, { message: 'The sandbox id or the port is malformed' });

// Clients compare the status and the message, and other servers compare `error_code`.
const NOT_FOUND = 'The sandbox was not found';

/** The sandbox does not exist. */
export const sandboxMissing = (sandboxId: string): Refusal =>
  refusal(502, { sandboxId, message: NOT_FOUND, error_code: 'sandbox_not_found' });

/** The sandbox is paused, and no request resumes it. */
export const sandboxPaused = (sandboxId: string): Refusal =>
  refusal(502, { sandboxId, message: NOT_FOUND, error_code: 'sandbox_paused' });

/** Another server has the sandbox. */
export const sandboxElsewhere = (sandboxId: string, url: string): Refusal =>
  refusal(421, { sandboxId, url, message: `The sandbox is at ${url}`, error_code: 'not_here' });

/** No process of the sandbox listens at the port. */
export const portClosed = (sandboxId: string, port: number): Refusal =>
  refusal(502, { sandboxId, port, message: 'The sandbox is running but port is not open' });

/** The token for requests to servers of the sandbox is missing or wrong. */
export const tokenWrong = (sandboxId: string, isMissing: boolean): Refusal =>
  refusal(403, {
    sandboxId,
    message: isMissing ? 'Missing traffic access token for sandbox' : 'Invalid traffic access token for sandbox',
  });

/** The server cannot resume the sandbox now. */
export const notResumed = (sandboxId: string, message: string): Refusal => refusal(503, { sandboxId, message });

/** Too many signatures of unknown sandboxes were compared in the last second. */
export const tooManySignatures = (): Refusal => refusal(429, { message: 'Too many signed URLs: repeat the request later' });

/** Answers a request. */
export function refuse(response: ServerResponse, { status, body }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
}

/** Answers a request for an upgrade, and ends the connection. */
export function refuseUpgrade(socket: Duplex, { status, body }: Refusal): void {
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
