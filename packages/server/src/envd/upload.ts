// Writing uploads: one file of bytes, or the files of a form.

import type { IncomingMessage } from 'node:http';
import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import Busboy from '@fastify/busboy';
import type { Sandbox } from '../sandboxes/sandbox.js';
import { AgentFailure } from './failure.js';
import { resolvePath } from './paths.js';
import type { User } from './user.js';

/** The wish to write files. */
export interface Upload {
  sandbox: Sandbox;
  user: User;
  /** The path of a single file, if the query has it. */
  path: string | undefined;
  metadata: Record<string, string>;
}

/** A written file. */
export interface Written {
  name: string;
  path: string;
  type: 'file';
  metadata?: Record<string, string>;
}

/** Writes the files in the body of a request. */
export async function writeUpload(request: IncomingMessage, upload: Upload): Promise<Written[]> {
  const type = request.headers['content-type'] ?? '';
  const body = bodyOf(request);
  if (type.startsWith('multipart/')) return writeForm(body, request, upload);
  if (upload.path === undefined) throw new AgentFailure(400, 'path is required');
  return [await writeOne(body, resolvePath(upload.path, upload.user), upload)];
}

function bodyOf(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return request;
  if (encoding !== 'gzip') throw new AgentFailure(400, `unsupported Content-Encoding: ${encoding}`);
  return request.pipe(createGunzip());
}

async function writeForm(body: Readable, request: IncomingMessage, upload: Upload): Promise<Written[]> {
  const written: Promise<Written>[] = [];
  const paths = new Set<string>();
  const form = new Busboy.Busboy({
    headers: request.headers as { 'content-type': string },
    preservePath: true,
    // A part can have the bytes of a file and no file name.
    isPartAFile: (field) => field === 'file',
  });
  let failure: unknown;
  form.on('file', (field, file, filename) => {
    const path = resolvePath(upload.path ?? filename ?? '', upload.user);
    const isSkipped = field !== 'file' || paths.has(path);
    if (paths.has(path)) failure ??= new AgentFailure(400, `the form has the file ${path} twice`);
    if (isSkipped) {
      file.resume();
      return;
    }
    paths.add(path);
    const one = writeOne(file, path, upload);
    one.catch((error: unknown) => {
      failure ??= error;
      file.resume();
    });
    written.push(one);
  });
  await pipeline(body, form);
  const settled = await Promise.allSettled(written);
  if (failure !== undefined) throw failure;
  return settled.map((one) => (one as PromiseFulfilledResult<Written>).value);
}

async function writeOne(body: Readable, path: string, { sandbox, user, metadata }: Upload): Promise<Written> {
  const { runtime } = sandbox;
  const status = await runtime.stat(path).catch(() => undefined);
  if (status?.isDirectory === true) throw new AgentFailure(400, `path is a directory: ${path}`);
  const owner = user.name;
  await runtime.mkdir(posix.dirname(path), { recursive: true, owner });
  await pipeline(body, runtime.createWriteStream(path, { owner }));
  const hasMetadata = Object.keys(metadata).length > 0;
  if (hasMetadata) sandbox.fileMetadata.set(path, metadata);
  else sandbox.fileMetadata.delete(path);
  return { name: posix.basename(path), path, type: 'file', ...(hasMetadata ? { metadata } : {}) };
}
