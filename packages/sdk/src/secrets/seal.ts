// Seals bytes for the edge process with HPKE (RFC 9180) in the mode `base`. The suite is
// DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM. A seal is one message without associated
// data. The edge process opens the bytes with `crates/edge/src/seal.rs`.

import type { KeyObject } from 'node:crypto';
import { requireBuiltin } from '../packages/installed.js';

// The first program of an app does not wait for `node:crypto`, which takes milliseconds.
const crypto = () => requireBuiltin('node:crypto');

const LABEL = Buffer.from('HPKE-v1');
/** `KEM` and the number of DHKEM(X25519, HKDF-SHA256). */
const KEM = Buffer.from('KEM\x00\x20', 'latin1');
/** `HPKE` and the numbers of the KEM, of HKDF-SHA256 and of AES-256-GCM. */
const SUITE = Buffer.from('HPKE\x00\x20\x00\x01\x00\x02', 'latin1');
const NONE = Buffer.alloc(0);
const HASH_BYTES = 32;
const NONCE_BYTES = 12;

/** A key pair of X25519. */
export interface SenderKeys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Returns the public key of the sender and the ciphertext. Tests pass the sender's keys. */
export function seal(
  receiver: Uint8Array,
  info: string,
  plain: Uint8Array,
  sender: SenderKeys = crypto().generateKeyPairSync('x25519'),
): Buffer {
  const { createCipheriv, createPublicKey, diffieHellman } = crypto();
  const { privateKey, publicKey } = sender;
  const own = Buffer.from(publicKey.export({ format: 'jwk' }).x as string, 'base64url');
  const jwk = { kty: 'OKP', crv: 'X25519', x: Buffer.from(receiver).toString('base64url') };
  const secret = diffieHellman({ privateKey, publicKey: createPublicKey({ key: jwk, format: 'jwk' }) });
  const { key, nonce } = schedule(sharedSecret(secret, Buffer.concat([own, receiver])), info);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  return Buffer.concat([own, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** `ExtractAndExpand` of the KEM. */
export const sharedSecret = (secret: Uint8Array, context: Uint8Array): Buffer =>
  expand(extract(NONE, KEM, 'eae_prk', secret), KEM, 'shared_secret', context, HASH_BYTES);

/** `KeySchedule` of the mode `base`. */
export function schedule(shared: Uint8Array, info: string, suite = SUITE, keyBytes = HASH_BYTES): { key: Buffer; nonce: Buffer } {
  const hashes = [extract(NONE, suite, 'psk_id_hash', NONE), extract(NONE, suite, 'info_hash', Buffer.from(info))];
  const context = Buffer.concat([Buffer.alloc(1), ...hashes]);
  const secret = extract(shared, suite, 'secret', NONE);
  return {
    key: expand(secret, suite, 'key', context, keyBytes),
    nonce: expand(secret, suite, 'base_nonce', context, NONCE_BYTES),
  };
}

/** `LabeledExtract`. HKDF-Extract is HMAC with the salt as key. */
const extract = (salt: Uint8Array, suite: Buffer, label: string, input: Uint8Array): Buffer =>
  crypto().createHmac('sha256', salt).update(LABEL).update(suite).update(label).update(input).digest();

/** `LabeledExpand` for at most one block of the hash. */
function expand(key: Buffer, suite: Buffer, label: string, info: Uint8Array, length: number): Buffer {
  const size = Buffer.from([length >> 8, length & 0xff]);
  const hmac = crypto().createHmac('sha256', key).update(size).update(LABEL).update(suite).update(label).update(info);
  return hmac
    .update(Buffer.from([1]))
    .digest()
    .subarray(0, length);
}
