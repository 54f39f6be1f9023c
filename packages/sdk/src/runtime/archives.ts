// Tar archives of a runtime's files. The sidecar packs and unpacks; here they are streams, and compressed if that is wanted.

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { OpenedFiles } from '../channel/opened.js';
import { invalidOption } from '../errors/make.js';
import { show } from '../options/show.js';
import { exportStream, writeStream } from './file-streams.js';

/** Options of `runtime.exportTar()`. */
export interface ExportTarOptions {
  /** Whether the archive is compressed. @default false */
  gzip?: boolean;
}

/** Options of `runtime.importTar()`. */
export interface ImportTarOptions {
  /** The directory into which it is unpacked; it is made if it is not there. @default the runtime's working directory */
  path?: string;
  /** Whether the archive is compressed. @default what its first bytes say */
  gzip?: boolean;
}

/** What an archive may come from. */
export type TarSource = Uint8Array | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

const CALL = 'importTar()';
const GZIP = [0x1f, 0x8b];

/** An archive of `path`; `ready` rejects when the options are wrong. */
export function exportTar(
  files: OpenedFiles,
  runtime: number,
  path: string,
  { gzip = false }: ExportTarOptions,
  ready: Promise<void> | undefined,
): Readable {
  const tar = exportStream(files, runtime, path, ready);
  if (!gzip) return tar;
  const compressed = createGzip();
  // Whoever reads hears of an error: it destroys the stream that is given back.
  pipeline(tar, compressed).catch(() => {});
  return compressed;
}

/** Unpacks an archive into `path`. */
export async function importTar(
  files: OpenedFiles,
  runtime: number,
  path: string,
  source: TarSource,
  gzip: boolean | undefined,
): Promise<void> {
  const chunks = chunksOf(source);
  const first: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < GZIP.length) {
    const { value, done } = await chunks.next();
    if (done) break;
    first.push(value);
    bytes += value.length;
  }
  const head = Buffer.concat(first);
  const whole = Readable.from(joined(head, chunks), { objectMode: false });
  const target = writeStream(files, runtime, { path, for: 'import' }, undefined);
  if (gzip ?? GZIP.every((byte, index) => head[index] === byte)) await pipeline(whole, createGunzip(), target);
  else await pipeline(whole, target);
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
    if (!(chunk instanceof Uint8Array)) {
      throw invalidOption(CALL, { option: 'source', expected: 'chunks that are Uint8Arrays', received: show(chunk) });
    }
    yield chunk;
  }
}

/** Throws unless `source` is what an archive may come from. */
export function checkSource(source: unknown): void {
  if (typeof source === 'object' && source !== null) {
    if (source instanceof Uint8Array || Symbol.asyncIterator in source || Symbol.iterator in source) return;
  }
  const expected = 'a Uint8Array, or a stream or an iterable of them';
  throw invalidOption(CALL, { option: 'source', expected, received: show(source) });
}
