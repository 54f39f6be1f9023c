// Compares the seal with the published vector of RFC 9180, A.1.1. The suite of the vector has
// AES-128-GCM. The edge process opens real messages in `sandbox/secrets.test.ts`.

import { createPrivateKey, createPublicKey, diffieHellman } from 'node:crypto';
import { expect, test } from 'vitest';
import { schedule, seal, sharedSecret } from '../../src/secrets/seal.js';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const SENDER = hex('37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431');
const SENDER_PRIVATE = hex('52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736');
const RECEIVER = hex('3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d');

const publicKey = (bytes: Buffer) =>
  createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: bytes.toString('base64url') }, format: 'jwk' });
const sender = {
  privateKey: createPrivateKey({
    key: { kty: 'OKP', crv: 'X25519', x: SENDER.toString('base64url'), d: SENDER_PRIVATE.toString('base64url') },
    format: 'jwk',
  }),
  publicKey: publicKey(SENDER),
};

test('derives the key of the published vector', () => {
  const secret = diffieHellman({ privateKey: sender.privateKey, publicKey: publicKey(RECEIVER) });
  const shared = sharedSecret(secret, Buffer.concat([SENDER, RECEIVER]));
  expect(shared.toString('hex')).toBe('fe0e18c9f024ce43799ae393c7e8fe8fce9d218875e8227b0187c04e7d2ea1fc');
  const suite = Buffer.from('HPKE\x00\x20\x00\x01\x00\x01', 'latin1');
  const { key, nonce } = schedule(shared, 'Ode on a Grecian Urn', suite, 16);
  expect([key.toString('hex'), nonce.toString('hex')]).toEqual(['4531685d41d65f03dc48f6b8302c05b0', '56d890e5accaaf011cff4b7d']);
});

test('seals with a new key for each message', () => {
  const sealed = seal(RECEIVER, 'info', Buffer.from('plain'), sender);
  expect(sealed.subarray(0, 32)).toEqual(SENDER);
  expect(sealed.length).toBe(32 + 5 + 16);
  const [one, two] = [seal(RECEIVER, 'info', Buffer.from('plain')), seal(RECEIVER, 'info', Buffer.from('plain'))];
  expect(one.equals(two)).toBe(false);
});
