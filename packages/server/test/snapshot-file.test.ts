// Tests the head of the file of a snapshot, which any client can send in any pieces.

import { expect, test } from 'vitest';
import { encodeFacts, type Facts, openFile } from '../src/sandboxes/snapshot-file.ts';

const FACTS: Facts = {
  version: 1,
  snapshot: { id: 'snap-a', image: '1', sha256: '0'.repeat(64) },
  tag: 'default',
  env: { KEY: 'value' },
  user: 'user',
  fileMetadata: {},
};
const BODY = Buffer.from('the exported file');
const FILE = Buffer.concat([encodeFacts(FACTS), BODY]);
const LENGTH_AT = 8;

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([1, 7, 44, 45, FILE.length])('the facts and the body arrive in pieces of %d bytes', async (size) => {
  const { facts, rest } = await openFile(pieces(FILE, size));
  expect(facts).toEqual(FACTS);
  const parts: Buffer[] = [];
  for await (const part of rest) parts.push(part);
  expect(Buffer.concat(parts)).toEqual(BODY);
});

test('a file that ends within its head is damaged', async () => {
  const head = encodeFacts(FACTS);
  for (let length = 0; length < head.length; length++) {
    await expect(openFile(pieces(head.subarray(0, length), 5))).rejects.toMatchObject({ code: 'snapshot-damaged' });
  }
});

test('each changed byte of the head is damage', async () => {
  const head = encodeFacts(FACTS);
  for (let at = 0; at < head.length; at++) {
    const changed = Buffer.from(FILE);
    changed[at] = (changed[at] as number) ^ 1;
    await expect(openFile(pieces(changed, 64))).rejects.toMatchObject({ code: 'snapshot-damaged' });
  }
});

test('a head that names too many bytes of facts is refused before the bytes are read', async () => {
  const head = Buffer.from(FILE.subarray(0, 44));
  head.writeUInt32LE(0xffff_ffff, LENGTH_AT);
  await expect(openFile(pieces(head, 44))).rejects.toThrow('4294967295 bytes of facts');
});
