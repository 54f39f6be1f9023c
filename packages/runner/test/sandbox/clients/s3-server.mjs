// A server of S3 over TLS that computes the signature of each request again (Signature Version 4).
// A verified request is passed on to s3rver, which checks no such signatures. Next: clients.mjs.

import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { createServer } from 'node:https';
import { crc32 } from 'node:zlib';
import { load } from '../../../npm-clients/packages.mjs';
import { temporaryFolder } from './servers.mjs';

const MAX_AGE_MS = 300_000;
const TRAILER = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
// s3rver knows one key, and requires the form of a signature.
const INNER = { authorization: 'AWS4-HMAC-SHA256 Credential=S3RVER/a, SignedHeaders=a, Signature=a' };
const SIGNATURE = ['authorization', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token'];
const FRAMING = ['content-encoding', 'content-length', 'expect', 'host', 'transfer-encoding', 'x-amz-decoded-content-length'];

const sha256 = (data) => createHash('sha256').update(data).digest('hex');
const hmac = (key, data) => createHmac('sha256', key).update(data).digest();
const escaped = (text) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

function fieldsOf(query) {
  const fields = query.split('&').filter((field) => field !== '');
  return fields.map((field) => [...field.split(/=(.*)/s), ''].slice(0, 2).map(decodeURIComponent));
}

// Returns the parts of a signature in the header or in the query.
function signatureOf(headers, fields) {
  const form = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  const match = form.exec(headers.authorization ?? '');
  const payload = headers['x-amz-content-sha256'];
  if (match !== null) {
    return { scope: match[1], names: match[2], signature: match[3], date: headers['x-amz-date'], age: MAX_AGE_MS, payload };
  }
  const query = Object.fromEntries(fields);
  if (query['X-Amz-Algorithm'] !== 'AWS4-HMAC-SHA256') return undefined;
  return {
    scope: query['X-Amz-Credential'],
    names: query['X-Amz-SignedHeaders'],
    signature: query['X-Amz-Signature'],
    date: query['X-Amz-Date'],
    age: Number(query['X-Amz-Expires']) * 1_000,
    payload: 'UNSIGNED-PAYLOAD',
    token: query['X-Amz-Security-Token'],
  };
}

// Removes the framing of a body with a checksum behind its chunks. Returns nothing for a wrong sum.
function withoutTrailer(body) {
  const parts = [];
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at);
    const length = Number.parseInt(body.toString('latin1', at, end), 16);
    if (length === 0) {
      const whole = Buffer.concat(parts);
      const sum = Buffer.alloc(4);
      sum.writeUInt32BE(crc32(whole));
      return body.toString('latin1', end + 2).trim() === `x-amz-checksum-crc32:${sum.toString('base64')}` ? whole : undefined;
    }
    parts.push(body.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}

// Verifies a request. Returns the body without its framing, or the code and the text of an error.
function verified({ method, url, headers }, body, { accessKeyId, secretAccessKey, sessionToken, region }) {
  const fault = (code, text) => ({ code, text });
  const [path, query = ''] = url.split(/\?(.*)/s);
  const fields = fieldsOf(query);
  const claim = signatureOf(headers, fields);
  if (claim === undefined) return fault('AccessDenied', 'no signature');
  const [id, day, ...scope] = claim.scope.split('/');
  if (id !== accessKeyId) return fault('InvalidAccessKeyId', id);
  if (scope.join('/') !== `${region}/s3/aws4_request`) return fault('AuthorizationHeaderMalformed', claim.scope);
  if ((claim.token ?? headers['x-amz-security-token']) !== sessionToken) return fault('InvalidToken', 'another token');
  const time = Date.parse(claim.date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(Date.now() - time) < claim.age) || !claim.date.startsWith(day)) return fault('RequestTimeTooSkewed', claim.date);
  const names = claim.names.split(';');
  const required = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  const unsigned = required.find((name) => !names.includes(name));
  if (unsigned !== undefined) return fault('AccessDenied', `the header ${unsigned} is not signed`);
  const canonicalQuery = fields
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map((field) => field.map(escaped).join('='))
    .sort()
    .join('&');
  const lines = names.map((name) => `${name}:${headers[name].trim().replace(/ +/g, ' ')}\n`).join('');
  const canonical = [method, path, canonicalQuery, lines, claim.names, claim.payload].join('\n');
  const signingKey = [day, ...scope].reduce(hmac, `AWS4${secretAccessKey}`);
  const text = ['AWS4-HMAC-SHA256', claim.date, [day, ...scope].join('/'), sha256(canonical)].join('\n');
  if (hmac(signingKey, text).toString('hex') !== claim.signature) return fault('SignatureDoesNotMatch', canonical);
  if (claim.payload === 'UNSIGNED-PAYLOAD' || claim.payload === sha256(body)) return { body };
  const decoded = claim.payload === TRAILER ? withoutTrailer(body) : undefined;
  return decoded === undefined ? fault('XAmzContentSHA256Mismatch', claim.payload) : { body: decoded };
}

async function bodyOf(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function passOn(inner, { method, url, headers }, body, response) {
  const left = Object.entries(headers).filter(([name]) => ![...SIGNATURE, ...FRAMING, 'x-amz-trailer'].includes(name));
  const [path, query = ''] = url.split(/\?(.*)/s);
  const fields = query.split('&').filter((field) => !/^x-amz-/i.test(field));
  const now = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const sent = { ...INNER, 'x-amz-date': now, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', 'content-length': body.length };
  const target = { port: inner, method, path: `${path}?${fields.join('&')}`, headers: { ...Object.fromEntries(left), ...sent } };
  const request = httpRequest(target, (reply) => {
    response.writeHead(reply.statusCode, reply.headers);
    reply.pipe(response);
  });
  request.on('error', () => response.destroy()).end(body);
}

/**
 * Starts the server. `tls` has its key and certificate, and `key` the parts of the key of AWS with
 * the region. Returns its port, the list `faults` of refused requests, and `close`.
 */
export async function startS3Server(tls, key) {
  const S3rver = load('s3rver');
  const folder = temporaryFolder();
  const options = { address: '127.0.0.1', port: 0, silent: true, vhostBuckets: false };
  const store = new S3rver({ ...options, directory: folder.path, configureBuckets: [{ name: 'bucket' }] });
  const { port: inner } = await store.run();
  const faults = [];
  const server = createServer(tls, async (request, response) => {
    const checked = verified(request, await bodyOf(request), key);
    if (checked.body !== undefined) return passOn(inner, request, checked.body, response);
    faults.push(checked.code);
    const xml = `<Error><Code>${checked.code}</Code><Message>${Buffer.from(checked.text).toString('base64')}</Message></Error>`;
    response.writeHead(403, { 'content-type': 'application/xml' }).end(xml);
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const close = async () => {
    await new Promise((resolve) => server.close(resolve).closeAllConnections());
    await store.close().finally(folder.remove);
  };
  return { port: server.address().port, faults, close };
}
