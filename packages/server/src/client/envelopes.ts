// The envelopes of Connect's streams: one byte of flags, four bytes of length, and JSON.
// https://connectrpc.com/docs/protocol#streaming-request

import { ServerError } from './failure.js';

const HEAD_BYTES = 5;
/** The flag of the last envelope, which has the failure of the call or nothing. */
const END = 0x02;
/** The largest envelope that a client accepts. */
const LARGEST_BYTES = 32 << 20;

/** Returns the envelope of one message. */
export function envelopeOf(message: unknown): Uint8Array<ArrayBuffer> {
  const body = new TextEncoder().encode(JSON.stringify(message));
  const envelope = new Uint8Array(HEAD_BYTES + body.length);
  new DataView(envelope.buffer).setUint32(1, body.length);
  envelope.set(body, HEAD_BYTES);
  return envelope;
}

/**
 * Yields the messages of a stream until its last envelope.
 *
 * @throws {ServerError} if the last envelope has a failure, or if the stream ends without it
 */
export async function* messagesOf<T>(body: ReadableStream<Uint8Array>): AsyncGenerator<T> {
  const reader = body.getReader();
  let held = new Uint8Array(0);
  try {
    for (;;) {
      const head = held.length < HEAD_BYTES ? undefined : new DataView(held.buffer, held.byteOffset);
      const length = head?.getUint32(1) ?? 0;
      if (length > LARGEST_BYTES) throw new ServerError(`the server sent a message of ${length} bytes`);
      if (head === undefined || held.length < HEAD_BYTES + length) {
        const { done, value } = await reader.read();
        if (done) throw new ServerError('The connection ended before the call', { code: 'ERR_SERVER_UNREACHABLE' });
        const joined = new Uint8Array(held.length + value.length);
        joined.set(held);
        joined.set(value, held.length);
        held = joined;
        continue;
      }
      const message = JSON.parse(new TextDecoder().decode(held.subarray(HEAD_BYTES, HEAD_BYTES + length)));
      const isEnd = (head.getUint8(0) & END) !== 0;
      held = held.slice(HEAD_BYTES + length);
      if (!isEnd) yield message as T;
      else if (message.error === undefined) return;
      else throw new ServerError(String(message.error.message), { status: String(message.error.code) });
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
