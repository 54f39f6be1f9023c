// `curl` for HTTP. The bodies of responses are written as they arrive, so streams of a server
// appear at once. Next: curl-options.js, transfer.js.

import fs from 'node:fs';
import { posix } from 'node:path';
import { close, write } from '../descriptors.js';
import { joined, multipart, readOptions } from './curl-options.js';
import { bodyOf, headOf, request, TransferError } from './transfer.js';

const VERSION = 'curl 8.14.1 (coldframe) libcurl/8.14.1\nProtocols: http https\nFeatures: HTTPS-proxy UnixSockets libz\n';
const RETRIED = new Set([408, 429, 500, 502, 503, 504]);
const TIMED_OUT = 28;

const addressOf = (text) => (/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`);

function withQuery(address, parts) {
  if (parts.length === 0) return address;
  const url = new URL(address);
  url.search = [url.search.slice(1), ...parts].filter(Boolean).join('&');
  return url.href;
}

// Returns the method, headers and body of the request.
async function prepare(read) {
  let body = read.data.length > 0 && !read.isGet ? joined(read.data) : undefined;
  let type = body === undefined ? undefined : read.isJson ? 'application/json' : 'application/x-www-form-urlencoded';
  if (read.form.length > 0) ({ body, type } = await multipart(read.form));
  if (read.upload !== undefined) body = fs.readFileSync(read.upload === '-' ? 0 : read.upload);
  const plain = read.isHead ? 'HEAD' : read.upload !== undefined ? 'PUT' : body !== undefined ? 'POST' : 'GET';
  const own = [
    ['User-Agent', read.agent ?? 'curl/8.14.1'],
    ['Accept', read.isJson ? 'application/json' : '*/*'],
    read.user !== undefined && ['Authorization', `Basic ${Buffer.from(read.user).toString('base64')}`],
    read.bearer !== undefined && ['Authorization', `Bearer ${read.bearer}`],
    read.referer !== undefined && ['Referer', read.referer],
    read.cookies.length > 0 && ['Cookie', read.cookies.map(cookieText).filter(Boolean).join('; ')],
    read.decodes && ['Accept-Encoding', 'deflate, gzip, br'],
    type !== undefined && ['Content-Type', type],
  ].filter(Boolean);
  const given = read.headers.map(headerOf).filter(Boolean);
  const replaced = new Set(given.map(([name]) => name.toLowerCase()));
  return {
    method: read.method ?? plain,
    body,
    headers: [...own.filter(([name]) => !replaced.has(name.toLowerCase())), ...given],
  };
}

// A cookie without `=` names a file.
const cookieText = (text) => (text.includes('=') ? text : fs.existsSync(text) ? fs.readFileSync(text, 'utf8').trim() : '');

// `Name:` removes a header, and `Name;` sends an empty header.
function headerOf(text) {
  const [, name, sign, value] = /^([^:;]+)([:;])\s*(.*?)\s*$/s.exec(text) ?? [];
  if (name === undefined) return undefined;
  return [name, sign === ':' && value === '' ? undefined : value];
}

function seconds(text, name) {
  const value = Number(text);
  if (text !== undefined && !(value >= 0)) throw new TransferError(2, `option ${name}: expected a proper numerical parameter`);
  return text === undefined ? undefined : value * 1_000;
}

// Returns a signal that aborts after the times of `--max-time` and `--connect-timeout`.
function deadlines(read) {
  const controller = new AbortController();
  const began = performance.now();
  const abort = (words) => () => {
    const milliseconds = Math.round(performance.now() - began);
    controller.abort(new TransferError(TIMED_OUT, words.replace('TIME', String(milliseconds))));
  };
  const timers = [];
  const whole = seconds(read.maxTime, '--max-time');
  const connect = seconds(read.connectTimeout, '--connect-timeout');
  if (whole) timers.push(setTimeout(abort('Operation timed out after TIME milliseconds'), whole));
  const connecting = connect ? setTimeout(abort('Connection timed out after TIME milliseconds'), connect) : undefined;
  return {
    signal: controller.signal,
    onRequest: (sent) => sent.on('socket', (socket) => socket.once('connect', () => clearTimeout(connecting))),
    stop: () => [...timers, connecting].forEach(clearTimeout),
  };
}

function targetOf(read, index, url) {
  const name = read.isRemoteName ? posix.basename(url.pathname) || 'curl_response' : read.outputs[index];
  if (name === undefined || name === '-') return undefined;
  const path = posix.join(read.folder ?? '', name);
  if (read.makesFolders) fs.mkdirSync(posix.dirname(posix.resolve(path)), { recursive: true });
  return path;
}

function opened(path) {
  try {
    return fs.openSync(path, 'w');
  } catch {
    throw new TransferError(23, `Failed to open the file ${path}`);
  }
}

async function transfer(read, index, facts) {
  const times = deadlines(read);
  try {
    const query = read.isGet && read.data.length > 0 ? [joined(read.data).toString()] : [];
    let address;
    try {
      address = new URL(withQuery(addressOf(read.urls[index]), [...(read.query ?? []), ...query]));
    } catch {
      throw new TransferError(3, 'URL rejected: Malformed input to a URL function');
    }
    const { method, headers, body } = await prepare(read);
    const verbose = (sent, url) => {
      if (read.verbose) note(`* connecting to ${url.host}\n${lines('> ', requestHead(sent))}`);
    };
    const onRequest = (sent, url) => {
      times.onRequest(sent);
      verbose(sent, url);
    };
    const options = { ...read, method, headers, body, signal: times.signal, onRequest, keepsMethod: read.method !== undefined };
    if (read.mostRedirects !== undefined) options.mostRedirects = Number(read.mostRedirects);
    const { response, url, heads, redirects } = await request(address, options);
    Object.assign(facts, { response, url, redirects });
    if (read.verbose) note(lines('< ', headOf(response)));
    if (read.fails && response.statusCode >= 400) {
      response.destroy();
      throw new TransferError(22, `The requested URL returned error: ${response.statusCode}`);
    }
    await save(read, index, { response, url, heads, facts, signal: times.signal });
    if (read.failsWithBody && response.statusCode >= 400)
      throw new TransferError(22, `The requested URL returned error: ${response.statusCode}`);
  } catch (error) {
    throw times.signal.aborted ? times.signal.reason : error;
  } finally {
    times.stop();
  }
}

async function save(read, index, { response, url, heads, facts }) {
  const path = targetOf(read, index, url);
  const fd = path === undefined ? 1 : opened(path);
  try {
    const head = [...heads, response].map(headOf).join('');
    if (read.headFile !== undefined) {
      if (read.headFile === '-') write(1, Buffer.from(head, 'latin1'));
      else fs.writeFileSync(read.headFile, head, 'latin1');
    }
    if (read.includes || read.isHead) write(fd, Buffer.from(head, 'latin1'));
    facts.size = 0;
    for await (const piece of bodyOf(response, read.decodes)) {
      facts.size += piece.length;
      write(fd, piece);
    }
  } catch (error) {
    if (error instanceof TransferError) throw error;
    throw new TransferError(error.code === 'ECONNRESET' ? 18 : 56, `transfer closed: ${error.message}`);
  } finally {
    if (fd !== 1) close(fd);
  }
}

const note = (text) => write(2, Buffer.from(text));
const lines = (mark, text) =>
  text
    .split('\r\n')
    .slice(0, -1)
    .map((line) => `${mark}${line}\n`)
    .join('');
const requestHead = (sent) =>
  `${sent.method} ${sent.path} HTTP/1.1\r\n${Object.entries(sent.getHeaders())
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

function written(format, { response, url, size = 0, redirects = 0, elapsed, exitCode }) {
  const text = format.startsWith('@') ? fs.readFileSync(format.slice(1), 'utf8') : format;
  const values = {
    __proto__: null,
    http_code: String(response?.statusCode ?? 0).padStart(3, '0'),
    response_code: String(response?.statusCode ?? 0).padStart(3, '0'),
    content_type: response?.headers['content-type'] ?? '',
    url_effective: url?.href ?? '',
    size_download: size,
    num_redirects: redirects,
    redirect_url: response?.headers.location ?? '',
    time_total: (elapsed / 1_000).toFixed(6),
    http_version: response?.httpVersion ?? '0',
    method: response?.req?.method ?? '',
    exitcode: exitCode,
    scheme: url?.protocol.slice(0, -1) ?? '',
  };
  const escapes = { n: '\n', t: '\t', r: '\r', '\\': '\\' };
  return text
    .replace(/\\([ntr\\])/g, (_, letter) => escapes[letter])
    .replace(/%%|%\{([^}]*)\}/g, (whole, name) => (whole === '%%' ? '%' : String(values[name] ?? '')));
}

// Repeats a transfer that failed for a passing reason.
async function withRetries(read, index, facts) {
  let wait = 1_000;
  for (let left = Number(read.retries ?? 0); ; left--) {
    let failure;
    try {
      await transfer(read, index, facts);
      return;
    } catch (error) {
      if (!(error instanceof TransferError)) throw error;
      failure = error;
    }
    const isPassing =
      read.retriesAll ||
      failure.exitCode === TIMED_OUT ||
      (failure.exitCode === 22 && RETRIED.has(facts.response?.statusCode)) ||
      (read.retriesRefused && failure.code === 'ECONNREFUSED');
    if (left <= 0 || !isPassing) throw failure;
    const delay = read.retryDelay === undefined ? wait : Number(read.retryDelay) * 1_000;
    wait = Math.min(wait * 2, 600_000);
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
}

export async function curl(args) {
  if (args.includes('--version') || args.includes('-V')) {
    write(1, Buffer.from(VERSION));
    return 0;
  }
  let read;
  try {
    read = readOptions(args);
  } catch (error) {
    note(`curl: ${error.message}\ncurl: try 'curl --help' or 'curl --manual' for more information\n`);
    return error.exitCode ?? 2;
  }
  if (read.urls.length === 0) {
    note("curl: try 'curl --help' or 'curl --manual' for more information\n");
    return 2;
  }
  let exitCode = 0;
  for (const index of read.urls.keys()) {
    const facts = {};
    const began = performance.now();
    exitCode = 0;
    try {
      await withRetries(read, index, facts);
    } catch (error) {
      exitCode = error.exitCode ?? 1;
      if (!read.silent || read.showsError) note(`curl: (${exitCode}) ${error.message}\n`);
    }
    const elapsed = performance.now() - began;
    if (read.writeOut !== undefined) write(1, Buffer.from(written(read.writeOut, { ...facts, elapsed, exitCode })));
  }
  return exitCode;
}
