// Sends one request to a guest's server and reads the whole response. The guest is not trusted. The
// response is bounded in bytes and in time, and undici bounds the response's head. Redirects are
// not followed, and no body is decompressed.

import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { isColdframeError } from '../errors/error.js';
import { connectionLost, fetchTimeout, invalidOption, responseInvalid, responseTooLarge } from '../errors/make.js';
import { base64Field, bytesBeyond } from '../exact-bytes.js';
import type { FetchOptions } from '../options/network.js';
import { show } from '../options/show.js';

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_RESPONSE_BYTES = 1_048_576;

/** The response of a guest's server. */
export class GuestResponse {
  /** The status code. */
  readonly status: number;
  /** The reason phrase. */
  readonly statusText: string;
  /** Whether the status is 200 to 299. */
  readonly ok: boolean;
  /** Headers by lower-case names, as in Node: a list for `set-cookie`, else joined by commas. */
  readonly headers: IncomingHttpHeaders;
  /** The body, decoded as UTF-8. */
  readonly body: string;
  readonly #bytes: Buffer;

  /** @internal */
  constructor(status: number, statusText: string, headers: IncomingHttpHeaders, bytes: Buffer) {
    this.status = status;
    this.statusText = statusText;
    this.ok = status >= 200 && status < 300;
    this.headers = headers;
    this.body = bytes.toString('utf8');
    this.#bytes = bytes;
    // A body that is not UTF-8 is a field too, so that `structuredClone()` copies the bytes.
    const exact = bytesBeyond(this.body, bytes);
    if (exact !== undefined) Object.defineProperty(this, 'bodyBytes', { value: exact, enumerable: true });
  }

  /** The exact bytes of the body. */
  get bodyBytes(): Uint8Array {
    return this.#bytes;
  }

  /** Parses the body as JSON. Throws a `SyntaxError` for other text. */
  json<T = unknown>(): T {
    return JSON.parse(this.body) as T;
  }

  /**
   * Returns the response as a plain object, which `JSON.stringify()` uses. A body that is not UTF-8
   * is also in `bodyBase64`.
   */
  toJSON(): Record<string, unknown> {
    const { bodyBytes, ...fields }: Partial<GuestResponse> = { ...this };
    return { ...fields, ...base64Field('bodyBase64', bodyBytes) };
  }
}

/** Converts a `Request` to options. Only the path and the query of the URL are used. */
export function fromRequest(request: Request): FetchOptions {
  const { pathname, search } = new URL(request.url);
  const { method, headers, body, signal } = request;
  return { method, path: pathname + search, headers, body: body ?? undefined, signal };
}

/**
 * Sends a request and reads the whole response. Rejects with `ERR_FETCH_TIMEOUT` after `timeoutMs`.
 */
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
    throw translated(port, error);
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
  const response = await dispatcher.request({
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
  if (Number(response.headers['content-length']) > maxResponseBytes && method.toUpperCase() !== 'HEAD') tooLarge();
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > maxResponseBytes) tooLarge();
    chunks.push(chunk);
  }
  return new GuestResponse(response.statusCode, response.statusText, response.headers, Buffer.concat(chunks, bytes));

  function tooLarge(): never {
    const error = responseTooLarge(port, maxResponseBytes);
    response.body.on('error', () => {}).destroy();
    throw error;
  }
}

// Returns the error of this package for an error of undici. Any other error was thrown by the
// caller's request body, and is returned unchanged.
function translated(port: number, error: unknown): unknown {
  const { name, code = '', message } = error as { name?: unknown; code?: unknown; message?: unknown };
  if (isColdframeError(error) || typeof code !== 'string') return error;
  if (code === 'UND_ERR_SOCKET') return connectionLost(port, error);
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED' || code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH') {
    return invalidOption('fetch()', { option: 'request', expected: 'a valid HTTP request', received: show(message) });
  }
  // undici asserts that a status is at least 100, and that only a requested upgrade has status 101.
  const isResponse = code.startsWith('UND_ERR') || name === 'HTTPParserError' || code === 'ERR_ASSERTION';
  return isResponse ? responseInvalid(port, String(message), error) : error;
}
