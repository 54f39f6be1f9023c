// The file of a snapshot that moves between servers: the facts of its build, and the exported file
// of the SDK.
//
//   0   "COLDFILE"
//   8   length of the facts, 32 bits, the lowest byte first
//   12  SHA-256 of the facts
//   44  the facts in JSON
//   …   the exported file of the SDK
//
// The file names no tenant and has no token and no value of a secret. The exported file checks
// itself: its head has the digests of its parts. Next: `snapshot-files.ts`.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { userOf } from '../envd/user.js';
import { SandboxFailure } from './failure.js';

const MAGIC = Buffer.from('COLDFILE');
const DIGEST_AT = 12;
const HEAD_BYTES = 44;
const MOST_FACTS_BYTES = 16 << 20;
const LONGEST_PATH = 4_096;

const texts = z.record(z.string(), z.string());
const Facts = z.strictObject({
  version: z.literal(1),
  snapshot: z.strictObject({
    id: z.string().regex(/^snap-[a-z0-9]{1,100}$/),
    image: z.string().max(200),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  }),
  /** The name and the tag. A snapshot without a name has only an id, which does not move. */
  name: z
    .string()
    .regex(/^[a-z0-9_-]{1,128}$/i)
    .optional(),
  tag: z.string().max(128),
  env: texts,
  user: z.string().refine((name) => userOf(name) !== undefined, 'a user of sandboxes'),
  workdir: z.string().min(1).max(LONGEST_PATH).startsWith('/').optional(),
  fileMetadata: z.record(z.string(), texts),
});

/** The facts of a snapshot's build. */
export type Facts = z.infer<typeof Facts>;

/** Returns the bytes before the exported file. */
export function encodeFacts(facts: Facts): Buffer {
  const text = Buffer.from(JSON.stringify(facts));
  if (text.length > MOST_FACTS_BYTES) {
    throw new SandboxFailure('invalid', `The snapshot has ${text.length} bytes of environment and metadata of files`);
  }
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return Buffer.concat([MAGIC, length, createHash('sha256').update(text).digest(), text]);
}

/** A file whose facts have been read. */
export interface Opened {
  facts: Facts;
  /** The bytes behind the facts. */
  rest: AsyncGenerator<Buffer, void>;
}

/** Reads the facts at the beginning of a file. Fails with `snapshot-damaged`. */
export async function openFile(chunks: AsyncIterator<Buffer>): Promise<Opened> {
  let left: Buffer = Buffer.alloc(0);
  // The bytes are copied, because a client can send any number of chunks of one byte.
  const take = async (length: number): Promise<Buffer> => {
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length; ) {
      if (left.length === 0) {
        const { done, value } = await chunks.next();
        if (done === true) throw damaged('it ends within its head');
        left = value;
      }
      const count = left.copy(bytes, at);
      left = left.subarray(count);
      at += count;
    }
    return bytes;
  };
  const head = await take(HEAD_BYTES);
  const length = head.readUInt32LE(MAGIC.length);
  if (!head.subarray(0, MAGIC.length).equals(MAGIC)) throw damaged('it is not the file of a snapshot');
  if (length > MOST_FACTS_BYTES) throw damaged(`it has ${length} bytes of facts`);
  const text = await take(length);
  const digest = createHash('sha256').update(text).digest();
  if (!digest.equals(head.subarray(DIGEST_AT))) throw damaged('its facts are not what was written');
  return { facts: factsOf(text), rest: following(left, chunks) };
}

function factsOf(text: Buffer): Facts {
  try {
    return Facts.parse(JSON.parse(text.toString('utf8')));
  } catch (error) {
    throw damaged(`its facts cannot be used: ${(error as Error).message}`, error);
  }
}

async function* following(first: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void> {
  if (first.length > 0) yield first;
  for (;;) {
    const { done, value } = await chunks.next();
    if (done === true) return;
    yield value;
  }
}

/** Returns the failure of a file that is no usable snapshot. */
export const damaged = (reason: string, cause?: unknown): SandboxFailure =>
  new SandboxFailure('snapshot-damaged', `The file is damaged: ${reason}`, { cause });
