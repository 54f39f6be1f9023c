// One HTTP request for curl and wget, over Node's own client, so that connections, permissions and
// denials are the runtime's. Next: curl.js, wget.js.

import http from 'node:http';
import https from 'node:https';
import zlib from 'node:zlib';

const MOST_REDIRECTS = 50;
const CODINGS = {
  __proto__: null,
  gzip: zlib.createGunzip,
  'x-gzip': zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
};

/** An error with the exit code that curl has for the cause. */
export class TransferError extends Error {
  constructor(exitCode, message, code) {
    super(message);
    Object.assign(this, { exitCode, code });
  }
}

const portOf = ({ protocol, port }) => port || (protocol === 'https:' ? '443' : '80');

// Returns curl's error for an error of a connection. Other errors keep their own words, so that a
// denial names the rule.
function failureOf(error, url, began) {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const failed = `Failed to connect to ${host} port ${portOf(url)} after ${Math.round(performance.now() - began)} ms`;
  if (error.code === 'ECONNREFUSED') return new TransferError(7, `${failed}: Couldn't connect to server`, error.code);
  if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN')
    return new TransferError(6, `Could not resolve host: ${host}`, error.code);
  if (error.code === 'ECONNRESET') {
    const isEmpty = /hang up/.test(error.message);
    return isEmpty
      ? new TransferError(52, 'Empty reply from server', error.code)
      : new TransferError(56, 'Recv failure: Connection reset by peer', error.code);
  }
  const errors = error.errors?.map(({ message }) => message);
  return new TransferError(7, `${failed}: ${errors?.[0] ?? error.message}`, error.code);
}

/**
 * Sends a request. Resolves with the response after its head, `response.url`, and the heads of the
 * redirects before. `signal` aborts the transfer.
 */
export async function request(address, options) {
  let url = new URL(address);
  let { method, headers, body } = options;
  const heads = [];
  for (let redirects = 0; ; redirects++) {
    const response = await once(url, { ...options, method, headers, body });
    const { statusCode } = response;
    const target = response.headers.location;
    if (!options.follows || target === undefined || statusCode < 300 || statusCode > 399)
      return { response, url, heads, redirects };
    if (redirects >= (options.mostRedirects ?? MOST_REDIRECTS))
      throw new TransferError(47, `Maximum (${options.mostRedirects ?? MOST_REDIRECTS}) redirects followed`);
    heads.push(response);
    response.resume();
    const next = new URL(target, url);
    if (statusCode <= 303 && method !== 'HEAD' && !options.keepsMethod) {
      if (method !== 'GET') [method, body] = ['GET', undefined];
      headers = headers.filter(([name]) => !/^content-(?:type|length)$/i.test(name));
    }
    // Credentials belong to the first host only.
    if (next.host !== url.host) headers = headers.filter(([name]) => !/^(?:authorization|cookie)$/i.test(name));
    url = next;
  }
}

function once(url, { method, headers, body, socketPath, insecure, signal, onRequest }) {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TransferError(1, `Protocol "${url.protocol.slice(0, -1)}" not supported`);
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const fail = (error) => reject(error instanceof TransferError ? error : failureOf(error, url, began));
    let sent;
    try {
      sent = (url.protocol === 'https:' ? https : http).request(url, {
        method,
        headers: headersOf(headers, url, body),
        setDefaultHeaders: false,
        agent: false,
        signal,
        ...(socketPath && { socketPath }),
        ...(insecure && { rejectUnauthorized: false }),
      });
    } catch (error) {
      fail(error);
      return;
    }
    onRequest?.(sent, url);
    sent.on('response', resolve).on('error', fail);
    sent.on('upgrade', (response) => resolve(response));
    sent.end(body);
  });
}

// Returns names and values in order as one list, as Node's client accepts them.
function headersOf(headers, url, body) {
  const has = (name) => headers.some(([given]) => given.toLowerCase() === name);
  const all = [...headers];
  if (!has('host')) all.unshift(['Host', url.host]);
  if (body !== undefined && !has('content-length') && !has('transfer-encoding'))
    all.push(['Content-Length', String(body.length)]);
  if (!has('connection')) all.push(['Connection', 'close']);
  return all.filter(([, value]) => value !== undefined).flat();
}

/** Returns the stream of the response's body, decoded if `decodes`. */
export function bodyOf(response, decodes) {
  const make = decodes ? CODINGS[response.headers['content-encoding']] : undefined;
  return make === undefined ? response : response.pipe(make());
}

/** Returns the head of a response as the server sent it. */
export function headOf(response) {
  const { httpVersion, statusCode, statusMessage, rawHeaders } = response;
  let text = `HTTP/${httpVersion} ${statusCode}${statusMessage ? ` ${statusMessage}` : ''}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) text += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`;
  return `${text}\r\n`;
}
