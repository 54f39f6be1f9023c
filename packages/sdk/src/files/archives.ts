// Tar archives of a runtime's files. The sidecar packs and unpacks the archives. This module
// connects the archives to streams, and compresses or decompresses the streams.

import { Readable } from 'node:stream';
import type { Requester } from '../channel/sidecar-connection.js';
import { checkArgument } from '../options/check.js';
import { type ExportTarOptions, TAR_CHUNK, type TarSource } from '../options/files.js';
import { requireBuiltin } from '../packages/installed.js';
import type { FileOpen, RuntimeId } from '../protocol/generated/messages.js';
import { exportStream, writeStream } from './streams.js';

const GZIP_MAGIC = [0x1f, 0x8b];

/**
 * Returns a stream of an archive of `path`. `ready` rejects if an argument of the call is wrong.
 */
export function exportTar(
  sidecar: Requester,
  runtime: RuntimeId,
  path: string,
  { gzip = false }: ExportTarOptions,
  ready: Promise<void> | undefined,
): Readable {
  const tar = exportStream(sidecar, runtime, path, ready);
  if (!gzip) return tar;
  const compressed = requireBuiltin('node:zlib').createGzip();
  const { pipeline } = requireBuiltin('node:stream/promises');
  // An error destroys `compressed`, and the reader of `compressed` receives the error.
  pipeline(tar, compressed).catch(() => {});
  return compressed;
}

/**
 * Unpacks an archive into `target.path`. If `gzip` is `undefined`, detects compression from the
 * first two bytes.
 */
export async function importTar(
  sidecar: Requester,
  runtime: RuntimeId,
  target: Omit<FileOpen, 'runtime' | 'for'>,
  source: TarSource,
  gzip: boolean | undefined,
): Promise<void> {
  const chunks = chunksOf(source);
  const first: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < GZIP_MAGIC.length) {
    const { value, done } = await chunks.next();
    if (done) break;
    first.push(value);
    bytes += value.length;
  }
  const head = Buffer.concat(first);
  const archive = Readable.from(joined(head, chunks), { objectMode: false });
  const unpacked = writeStream(sidecar, runtime, { ...target, for: 'import' }, undefined);
  const { pipeline } = requireBuiltin('node:stream/promises');
  if (!(gzip ?? GZIP_MAGIC.every((byte, index) => head[index] === byte))) return pipeline(archive, unpacked);
  return pipeline(archive, requireBuiltin('node:zlib').createGunzip(), unpacked);
}

async function* joined(head: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  yield* rest;
}

async function* chunksOf(source: TarSource): AsyncGenerator<Uint8Array, undefined> {
  if (source instanceof Uint8Array) {
    yield source;
    return;
  }
  for await (const chunk of source) {
    checkArgument('importTar()', 'source', TAR_CHUNK, chunk);
    yield chunk;
  }
}
