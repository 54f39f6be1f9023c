// One request to a guest's server, and its whole answer. The guest is not trusted: its answer is bounded in bytes and in time, its head by
// undici, and nothing that it sends is followed or unpacked.

import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { isColdframeError } from '../errors/error.js';
import { connectionLost, fetchTimeout, invalidOption, responseInvalid, responseTooLarge } from '../errors/make.js';
import type { FetchOptions } from '../options/network.js';
import { show } from '../options/show.js';

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_RESPONSE_BYTES = 1_048_576;

/** What a guest's server has answered. */
export class GuestResponse {
  /** The status code. */
  readonly status: number;
  /** What stands behind it in the answer. */
  readonly statusText: string;
  /** By lower-case names, as in Node: a list for `set-cookie`, joined by commas for the rest. */
  readonly headers: IncomingHttpHeaders;
  readonly #bytes: Buffer;
  #text: string | undefined;

  /** @internal */
  constructor(status: number, statusText: string, headers: IncomingHttpHeaders, bytes: Buffer) {
    this.status = status;
    this.statusText = statusText;
    this.headers = headers;
    this.#bytes = bytes;
  }

  /** Whether the status is one of 200 to 299. */
  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** The body, decoded as UTF-8. */
  get body(): string {
    this.#text ??= this.#bytes.toString('utf8');
    return this.#text;
  }

  /** The body, byte for byte. */
  get bodyBytes(): Uint8Array {
    return this.#bytes;
  }

  /** The body as JSON. Throws a `SyntaxError` when it is none. */
  json<T = unknown>(): T {
    return JSON.parse(this.body) as T;
  }
}

/** The options of a request that is given as such. */
export function fromRequest(request: Request): FetchOptions {
  const { pathname, search } = new URL(request.url);
  const { method, headers, body, signal } = request;
  return { method, path: pathname + search, headers, body: body ?? undefined, signal };
}

/** Sends the request and reads the answer. */
export async function fetchFrom(dispatcher: Dispatcher, port: number, options: FetchOptions): Promise<GuestResponse> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = options;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(fetchTimeout(port, timeoutMs)), timeoutMs);
  const abort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await exchange(dispatcher, port, options, stop.signal);
  } catch (error) {
    if (stop.signal.aborted) throw stop.signal.reason;
    throw explained(port, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

async function exchange(
  dispatcher: Dispatcher,
  port: number,
  { method = 'GET', path = '/', headers, body, maxResponseBytes = DEFAULT_RESPONSE_BYTES }: FetchOptions,
  signal: AbortSignal,
): Promise<GuestResponse> {
  const answer = await dispatcher.request({
    method: method.toUpperCase() as Dispatcher.HttpMethod,
    path,
    headers: headers as Dispatcher.RequestOptions['headers'],
    body: body as Dispatcher.RequestOptions['body'],
    signal,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  if (Number(answer.headers['content-length']) > maxResponseBytes && method.toUpperCase() !== 'HEAD') tooLarge();
  for await (const chunk of answer.body) {
    bytes += chunk.length;
    if (bytes > maxResponseBytes) tooLarge();
    chunks.push(chunk);
  }
  return new GuestResponse(answer.statusCode, answer.statusText, answer.headers, Buffer.concat(chunks, bytes));

  function tooLarge(): never {
    const error = responseTooLarge(port, maxResponseBytes);
    answer.body.on('error', () => {}).destroy();
    throw error;
  }
}

// undici's errors as ours; what is neither comes from the caller's own body.
function explained(port: number, error: unknown): unknown {
  const { name, code = '', message } = error as { name?: unknown; code?: unknown; message?: unknown };
  if (isColdframeError(error) || typeof code !== 'string') return error;
  if (code === 'UND_ERR_SOCKET') return connectionLost(port, error);
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED' || code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH') {
    return invalidOption('fetch()', { option: 'request', expected: 'what HTTP allows', received: show(message) });
  }
  return code.startsWith('UND_ERR') || name === 'HTTPParserError' ? responseInvalid(port, String(message), error) : error;
}
