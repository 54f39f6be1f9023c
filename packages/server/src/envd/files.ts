// The agent's plain HTTP routes: health, environment, metrics, and the bytes of files.

import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Size } from '../sandboxes/base.js';
import type { Sample } from '../sandboxes/metrics.js';
import { refusalOf, type Signed } from './access.js';
import { type ComposeBody, compose } from './compose.js';
import { type AgentCall, callOf } from './context.js';
import { AgentFailure, failureOf } from './failure.js';
import { resolvePath } from './paths.js';
import { writeUpload } from './upload.js';
import { type User, userOf } from './user.js';

const COMPOSE_BYTES = 1 << 20;
const METADATA_HEADER = /^x-metadata-(.+)$/;
const METADATA_BYTES = 4_096;
const RANGE = /^bytes=(\d*)-(\d*)$/;

interface FileQuery {
  path?: string;
  username?: string;
  signature?: string;
  signature_expiration?: string;
}

/** Adds the routes. */
export function addFileRoutes(agent: FastifyInstance, size: Size): void {
  agent.setErrorHandler((error, _, reply) => {
    const { status, message } = failureOf(error);
    return reply.code(status).send({ code: status, message });
  });
  agent.get('/health', (_, reply) => reply.code(204).send());
  agent.get('/envs', (request) => {
    authorized(request);
    return callOf(request.raw).record.env;
  });
  agent.get('/metrics', async (request) => {
    authorized(request);
    const { sandbox } = callOf(request.raw);
    return metricsOf(await sandbox.samples.newest(), size);
  });
  agent.get<{ Querystring: FileQuery }>('/files', async (request, reply) => {
    const { sandbox, user, path } = fileCall(request, 'read');
    return sendFile(request.raw, reply, sandbox, resolvePath(path, user));
  });
  agent.post<{ Body: ComposeBody }>('/files/compose', { bodyLimit: COMPOSE_BYTES }, async (request) => {
    authorized(request);
    const { sandbox, record } = callOf(request.raw);
    return compose(sandbox, record, request.body);
  });
  agent.register(async (uploads) => addUploadRoute(uploads));
}

// Uploads are streams: no parser reads their bodies.
function addUploadRoute(agent: FastifyInstance): void {
  agent.removeAllContentTypeParsers();
  agent.addContentTypeParser('*', (_, __, done) => done(null));
  agent.post<{ Querystring: FileQuery }>('/files', async (request) => {
    const { sandbox, user } = fileCall(request, 'write');
    return writeUpload(request.raw, { sandbox, user, path: request.query.path, metadata: metadataOf(request.raw) });
  });
}

const MIB = 1 << 20;

function metricsOf(sample: Sample | undefined, { memoryBytes, diskBytes }: Size) {
  const { cpuUsedPct = 0, memoryBytes: used = 0, diskBytes: diskUsed = 0 } = sample ?? {};
  return {
    ts: Math.floor(Date.now() / 1_000),
    cpu_count: 1,
    cpu_used_pct: cpuUsedPct,
    mem_total: memoryBytes,
    mem_used: used,
    mem_cache: 0,
    mem_total_mib: Math.floor(memoryBytes / MIB),
    mem_used_mib: Math.floor(used / MIB),
    disk_used: diskUsed,
    disk_total: diskBytes,
  };
}

function authorized({ raw }: FastifyRequest): void {
  const token = raw.headers['x-access-token'];
  if (typeof token !== 'string' || !callOf(raw).isOpenedBy(token)) throw new AgentFailure(401, 'unauthorized access');
}

function fileCall(
  request: FastifyRequest<{ Querystring: FileQuery }>,
  operation: 'read' | 'write',
): AgentCall & { user: User; path: string } {
  const call = callOf(request.raw);
  const { path = '', username, signature, signature_expiration: expiration } = request.query;
  const token = request.raw.headers['x-access-token'];
  if (typeof token !== 'string' || !call.isOpenedBy(token)) {
    const refusal = refusalOf(
      { path, operation, username: username ?? '', signature, expiration },
      call.record.accessToken,
      Date.now(),
    );
    if (refusal !== undefined) throw new AgentFailure(401, refusal);
  }
  if (operation === 'read' && path === '') throw new AgentFailure(400, 'path is required');
  const user = userOf(username ?? call.record.user);
  if (user === undefined) throw new AgentFailure(401, `invalid username: '${username}'`);
  return { ...call, user, path };
}

/** Returns the parts of a URL that may be signed, for the search of the sandbox that signed it. */
export function signedOf(url: URL, method: string | undefined): Signed {
  const get = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  return {
    path: get('path') ?? '',
    operation: method === 'POST' ? 'write' : 'read',
    username: get('username') ?? '',
    signature: get('signature'),
    expiration: get('signature_expiration'),
  };
}

function metadataOf({ headers }: IncomingMessage): Record<string, string> {
  const metadata: Record<string, string> = {};
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    const [, key] = METADATA_HEADER.exec(name) ?? [];
    if (key === undefined || typeof value !== 'string') continue;
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
    Object.defineProperty(metadata, key, { value, enumerable: true, configurable: true, writable: true });
  }
  if (bytes > METADATA_BYTES)
    throw new AgentFailure(400, `the metadata has ${bytes} bytes; at most ${METADATA_BYTES} are allowed`);
  return metadata;
}

async function sendFile(
  request: IncomingMessage,
  reply: FastifyReply,
  sandbox: AgentCall['sandbox'],
  path: string,
): Promise<FastifyReply> {
  const { runtime } = sandbox;
  const { type, size } = await runtime.stat(path);
  if (type === 'directory') throw new AgentFailure(400, `path is a directory: ${path}`);
  // Files of /proc have the size 0, and content.
  const content = size === 0 ? Buffer.from(await runtime.readFile(path)) : undefined;
  const encoding = encodingOf(request);
  reply.header('vary', 'Accept-Encoding').header('content-type', 'application/octet-stream');
  const [first, last] = rangeOf(request, size);
  if (first !== undefined) reply.code(206).header('content-range', `bytes ${first}-${last}/${size}`);
  if (content !== undefined) return reply.header('content-length', content.length).send(content);
  const stream = runtime.createReadStream(path, first === undefined ? {} : { start: first, end: last as number });
  if (encoding === 'gzip' && first === undefined) {
    const zipped = createGzip();
    pipeline(stream, zipped).catch((error: Error) => zipped.destroy(error));
    return reply.header('content-encoding', 'gzip').send(zipped);
  }
  const length = first === undefined ? size : (last as number) - first + 1;
  return reply.header('content-length', length).send(stream);
}

function encodingOf({ headers }: IncomingMessage): 'identity' | 'gzip' {
  const accepted = String(headers['accept-encoding'] ?? '').toLowerCase();
  const names = accepted.split(',').map((part) => part.trim().split(';')[0]);
  if (names.includes('gzip')) return 'gzip';
  const refusesPlain = /identity\s*;\s*q=0(\.0*)?\s*(,|$)/.test(accepted);
  if (refusesPlain) throw new AgentFailure(406, `no acceptable encoding in: ${accepted}`);
  return 'identity';
}

function rangeOf({ headers }: IncomingMessage, size: number): [first: number, last: number] | [undefined] {
  const [, from, to] = RANGE.exec(headers.range ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '') || size === 0) return [undefined];
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (first > last) throw new AgentFailure(416, `the range is outside the file of ${size} bytes`);
  return [first, last];
}
