// The content of volumes. The token of a volume opens all routes of the volume.

import { posix } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isSameToken } from '../envd/access.js';
import { type VolumeEntry, VolumeError, type VolumeFiles } from '../volumes/volume-files.js';
import type { Volumes } from '../volumes/volumes.js';
import type { Control, Routes } from './app.js';
import { ControlFailure } from './failure.js';

const tags = ['volumes'];
const READ_BYTES = 256 << 10;
const DEEPEST = 64;

const STATUSES: Readonly<Record<string, number>> = { ENOENT: 404, EEXIST: 409, ENOSPC: 507, ENOTEMPTY: 409 };

const VolumePath = z.object({ id: z.string().max(100) });
const path = z.string().min(1).max(4_096);
const owner = z.coerce.number().int().min(0).max(0xffff_ffff).optional();
const mode = z.coerce.number().int().min(0).max(0o7777).optional();
const force = z.stringbool().optional();
const PathQuery = z.object({ path });
const ListQuery = z.object({ path, depth: z.coerce.number().int().min(1).max(DEEPEST).default(1) });
const WriteQuery = z.object({ path, uid: owner, gid: owner, mode, force });
const AttributesBody = z.object({ uid: owner, gid: owner, mode });

/** Adds the routes. */
export function addVolumeContentRoutes(app: Routes, { volumes }: Control): void {
  app.addHook('onRequest', requireToken(volumes));
  const filesOf = finder(volumes);
  const read = { params: VolumePath, querystring: PathQuery, tags };
  app.get('/volumecontent/:id/path', { schema: { ...read, summary: 'Describe an entry' } }, (request) =>
    checked(() => entryOf(filesOf(request), clean(request.query.path))),
  );
  const change = { ...read, body: AttributesBody, summary: 'Change the mode or the owner of an entry' };
  app.patch('/volumecontent/:id/path', { schema: change }, (request) =>
    checked(() => {
      const at = clean(request.query.path);
      filesOf(request).setAttributes(at, request.body);
      return entryOf(filesOf(request), at);
    }),
  );
  app.delete('/volumecontent/:id/path', { schema: { ...read, summary: 'Remove an entry' } }, (request, reply) => {
    checked(() => filesOf(request).removeAll(clean(request.query.path)));
    return reply.code(204).send();
  });
  const list = { params: VolumePath, querystring: ListQuery, tags, summary: 'List a directory' };
  app.get('/volumecontent/:id/dir', { schema: list }, (request) =>
    checked(() => below(filesOf(request), clean(request.query.path), request.query.depth)),
  );
  const write = { params: VolumePath, querystring: WriteQuery, tags };
  app.post('/volumecontent/:id/dir', { schema: { ...write, summary: 'Make a directory' } }, (request, reply) => {
    const { force: makesParents, ...attributes } = request.query;
    const at = clean(attributes.path);
    const files = filesOf(request);
    checked(() => {
      if (makesParents === true) makeParents(files, at);
      files.mkdir(at, attributes.mode ?? 0o755);
      files.setAttributes(at, attributes);
    });
    return reply.code(201).send(entryOf(files, at));
  });
  app.get('/volumecontent/:id/file', { schema: { ...read, summary: 'Read a file' } }, (request, reply) => {
    const at = clean(request.query.path);
    const files = filesOf(request);
    const { size, type } = checked(() => files.entry(at));
    if (type !== 'file') throw new ControlFailure(400, `${at} is no file`);
    return reply
      .header('content-type', 'application/octet-stream')
      .header('content-length', size)
      .send(Readable.from(chunks(files, at, size)));
  });
}

/** Adds the route that writes a file. No parser reads the body, which is a stream. */
export function addVolumeUploadRoute(app: Routes, { volumes }: Control): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_, __, done) => done(null));
  app.addHook('onRequest', requireToken(volumes));
  const filesOf = finder(volumes);
  const schema = { params: VolumePath, querystring: WriteQuery, tags, summary: 'Write a file' };
  app.put('/volumecontent/:id/file', { schema }, async (request, reply) => {
    const { force: overwrites, ...attributes } = request.query;
    const at = clean(attributes.path);
    const files = filesOf(request);
    checked(() => {
      makeParents(files, at);
      if (!exists(files, at)) files.create(at, attributes.mode ?? 0o644);
      else if (overwrites === false) throw new VolumeError('EEXIST', at);
      else files.truncate(at, 0);
    });
    let offset = 0;
    for await (const chunk of request.raw) {
      checked(() => files.write(at, offset, chunk as Buffer));
      offset += (chunk as Buffer).length;
    }
    checked(() => files.setAttributes(at, attributes));
    return reply.code(201).send(entryOf(files, at));
  });
}

const finder =
  (volumes: Volumes) =>
  ({ params }: Pick<FastifyRequest, 'params'>): VolumeFiles =>
    volumes.filesOf((params as { id: string }).id);

// Returns a hook that compares the token of a request with the token of its volume.
function requireToken(volumes: Volumes) {
  return async ({ params, headers }: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const record = volumes.get((params as { id: string }).id);
    const token = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
    const isOpen = record !== undefined && token !== undefined && isSameToken(token, record.token);
    if (!isOpen) await reply.code(401).send({ code: 401, message: 'the token of the volume is missing or wrong' });
  };
}

const clean = (given: string): string => posix.resolve('/', given);

function checked<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof VolumeError)) throw error;
    throw new ControlFailure(
      STATUSES[error.code] ?? 400,
      error.code === 'ENOENT' ? `path not found: ${error.message}` : error.message,
    );
  }
}

function exists(files: VolumeFiles, at: string): boolean {
  try {
    return files.entry(at) !== undefined;
  } catch (error) {
    if (error instanceof VolumeError && error.code === 'ENOENT') return false;
    throw error;
  }
}

function makeParents(files: VolumeFiles, at: string): void {
  const parent = posix.dirname(at);
  if (parent === '/' || exists(files, parent)) return;
  makeParents(files, parent);
  files.mkdir(parent, 0o755);
}

function below(files: VolumeFiles, at: string, depth: number): object[] {
  return files.entries(at).flatMap((entry) => {
    const own = posix.join(at, entry.name);
    const inner = entry.type === 'directory' && depth > 1 ? below(files, own, depth - 1) : [];
    return [wire(entry, own), ...inner];
  });
}

const entryOf = (files: VolumeFiles, at: string) => wire(files.entry(at), at);

const wire = ({ name, type, size, mode: bits, uid, gid, atime, mtime, ctime, target }: VolumeEntry, at: string) => ({
  name,
  type,
  path: at,
  size,
  mode: bits,
  uid,
  gid,
  atime: new Date(atime).toISOString(),
  mtime: new Date(mtime).toISOString(),
  ctime: new Date(ctime).toISOString(),
  ...(target === null ? {} : { target }),
});

function* chunks(files: VolumeFiles, at: string, size: number): Generator<Uint8Array> {
  for (let offset = 0; offset < size; offset += READ_BYTES) yield files.read(at, offset, Math.min(READ_BYTES, size - offset));
}
