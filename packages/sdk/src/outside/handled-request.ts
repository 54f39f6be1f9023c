// One request of a program to which a function of the app responds.
//
// Both directions of the connection have one form: the length of a head in 4 bytes, the head as
// JSON, and the body. The end of a direction is the end of its body. A character of a header is a
// byte. The edge process has judged the request, and checks the response.

import type { OpenStream, StreamListener } from '../channel/network-link.js';
import { GuestStream } from '../network/guest-stream.js';
import type { RequestHandler } from '../options/outside.js';

/** The bytes of the length before a head. */
const PREFIX_BYTES = 4;
/** The largest head of a request. The edge process accepts 64 KiB of headers before JSON. */
const MAX_HEAD_BYTES = 1_048_576;
/** The response to a request whose function has failed. */
const FAILED = { failed: true };
/** The codings that `fetch()` removes from a body, but not from the headers of its response. */
const DECODED = /^\s*(?:(?:x-)?gzip|x-compress|deflate|br|zstd)\s*$/i;

/** The head of a request. */
interface RequestHead {
  readonly handler: number;
  readonly method: string;
  readonly url: string;
  readonly headers: [name: string, value: string][];
}

/**
 * Opens the connection, and responds to its request. While the connection is open, `aborts` has a
 * function that aborts the request.
 */
export function respond(
  open: (listener: StreamListener) => OpenStream,
  find: (handler: number) => RequestHandler | undefined,
  aborts: Set<() => void>,
): void {
  const aborted = new AbortController();
  // The end must not wait for a function that does not read its request.
  const observed = (listener: StreamListener): OpenStream =>
    open({
      ...listener,
      closed(error) {
        if (error !== undefined) aborted.abort();
        listener.closed(error);
      },
    });
  const stream = new GuestStream(observed, true);
  const abort = (): void => {
    aborted.abort();
    stream.resetAndDestroy();
  };
  aborts.add(abort);
  stream.on('error', () => {});
  stream.on('close', () => aborts.delete(abort));
  readHead(stream)
    .then((head) => handle(stream, head, find(head.handler), aborted.signal))
    .catch(() => stream.resetAndDestroy());
}

interface Received extends RequestHead {
  /** The first bytes of the body. */
  readonly first: Uint8Array;
}

// Reads the head. Leaves the stream paused.
function readHead(stream: GuestStream): Promise<Received> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const onData = (piece: Uint8Array): void => {
      bytes = Buffer.concat([bytes, piece]);
      const length = bytes.length < PREFIX_BYTES ? 0 : bytes.readUInt32LE();
      if (length > MAX_HEAD_BYTES) reject(new RangeError('the head of a request is too long'));
      const end = PREFIX_BYTES + length;
      if (length === 0 || bytes.length < end) return;
      stream.off('data', onData).pause();
      try {
        resolve({ ...JSON.parse(bytes.toString('utf8', PREFIX_BYTES, end)), first: bytes.subarray(end) });
      } catch (error) {
        reject(error);
      }
    };
    stream.on('data', onData);
    stream.once('close', () => reject(new Error('the request has ended')));
  });
}

async function handle(
  stream: GuestStream,
  head: Received,
  handler: RequestHandler | undefined,
  signal: AbortSignal,
): Promise<void> {
  let response: Response;
  try {
    if (handler === undefined) throw new TypeError('the function was removed');
    response = await handler(requestOf(stream, head, signal));
    if (stream.destroyed) return void response?.body?.cancel().catch(() => {});
    stream.write(framed(headOf(response)));
  } catch {
    stream.end(framed(FAILED));
    stream.resume();
    return;
  }
  if (response.body !== null) await pass(response.body, stream);
  stream.end();
  // The bytes of a request that the function has not read are discarded.
  if (!stream.listenerCount('data')) stream.resume();
}

function requestOf(stream: GuestStream, { method, url, headers, first }: Received, signal: AbortSignal) {
  const hasBody = method !== 'GET' && method !== 'HEAD';
  if (!hasBody) stream.resume();
  const init: RequestInit & { duplex: 'half' } = {
    method,
    headers,
    signal,
    duplex: 'half',
    redirect: 'manual',
    body: hasBody ? bodyOf(stream, first) : null,
  };
  return new Request(url, init);
}

function bodyOf(stream: GuestStream, first: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (first.length > 0) controller.enqueue(first);
        stream.on('data', (bytes: Uint8Array) => {
          controller.enqueue(bytes);
          stream.pause();
        });
        stream.once('end', () => controller.close());
        stream.once('close', () => {
          if (!stream.readableEnded) controller.error(new Error('the request was aborted'));
        });
        stream.pause();
      },
      pull: () => void stream.resume(),
      cancel() {
        stream.removeAllListeners('data').removeAllListeners('end').resume();
      },
    },
    { highWaterMark: 0 },
  );
}

function headOf(response: Response): object {
  const { status, url, bodyUsed } = response;
  if (bodyUsed) throw new TypeError('the body of the response was read already');
  const headers = [...response.headers];
  // The body of a response of `fetch()` is decoded.
  const isDecoded = url !== '' && (response.headers.get('content-encoding') ?? '').split(',').every((one) => DECODED.test(one));
  return { status, headers: isDecoded ? headers.filter(([name]) => name !== 'content-encoding') : headers };
}

function framed(head: object): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(PREFIX_BYTES);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, json]);
}

// Passes a body on. The next piece is read when the connection has space.
async function pass(body: ReadableStream<Uint8Array>, stream: GuestStream): Promise<void> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {});
  stream.once('close', cancel);
  for (;;) {
    const { done, value } = await reader.read();
    if (done || stream.destroyed) break;
    // A piece that is no bytes fails, and so aborts the response.
    if (!stream.write(value)) await spaceIn(stream);
  }
  stream.off('close', cancel);
}

const spaceIn = (stream: GuestStream): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      stream.off('drain', go).off('close', go);
      resolve();
    };
    stream.once('drain', go).once('close', go);
    if (stream.destroyed) go();
  });
