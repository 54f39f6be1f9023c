// Secrets as messages: the declarations, which have no value, and the values, which are sealed for
// the edge process. Next: `seal.ts`.

import type { PlaceholderOptions, SecretOptions, SigningSecretOptions } from '../options/secrets.js';
import type { OutsideSecret } from '../protocol/generated/messages.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const DEFAULT_PREFIX = 'cfs_';
const DEFAULT_LENGTH = 32;

/** Options of a secret, or the hosts of a restored secret. */
export type DeclaredSecret = Omit<SecretOptions, 'value'> & Partial<Pick<SigningSecretOptions, 'sign' | 'region' | 'service'>>;

/**
 * Returns the declarations of secrets. The sidecar ignores the placeholder of a secret that it
 * knows, because programs have read the former placeholder.
 */
export function declare(secrets: Iterable<readonly [name: string, secret: DeclaredSecret]>): OutsideSecret[] {
  return [...secrets].map(([name, { hosts, in: places, insecure, placeholder, env, sign, region, service }]) => ({
    name,
    placeholder: env === false ? undefined : newPlaceholder(placeholder),
    hosts: [...hosts],
    places: places && [...places],
    insecure,
    sign: sign && { region, service },
  }));
}

function newPlaceholder({ prefix = DEFAULT_PREFIX, length = DEFAULT_LENGTH }: PlaceholderOptions = {}): string {
  let random = '';
  // A byte above the last multiple of the alphabet's length would prefer the first characters. The
  // global `crypto` needs no import of `node:crypto`, which takes milliseconds.
  const usable = 256 - (256 % ALPHABET.length);
  while (random.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      if (byte < usable && random.length < length) random += ALPHABET[byte % ALPHABET.length];
    }
  }
  return prefix + random;
}
