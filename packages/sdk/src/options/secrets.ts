// Options for secrets: the option `secrets`, and the calls of `runtime.secrets`. No fault contains
// a value. Next: `secrets/runtime-secrets.ts`.

import { type Fault, FLAG, hidden, isPlain, listOf, matching, oneOf, type Rule, rule, whole } from './rule.js';
import { Hidden } from './show.js';
import { known, type OptionTable, objectWith, required } from './table.js';

/** The bytes of a secret. Text is UTF-8. */
export type SecretText = string | Uint8Array;

/** A key of AWS, which signs requests. */
export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

/** A value that expires. */
export interface ExpiringSecret<Value = SecretText> {
  value: Value;
  /** The end of the value's validity: a Date, or milliseconds since 1970. @default never */
  expiresAt?: Date | number | undefined;
}

type Returns<Value> = Value | ExpiringSecret<Value>;

/** A value, or a function that returns the present value. */
export type SecretSource<Value = SecretText> = Value | (() => Returns<Value> | Promise<Returns<Value>>);

/** The form of the text that programs have instead of a value. */
export interface PlaceholderOptions {
  /** The first characters: letters, digits, `-`, `.`, `_` and `~`. @default 'cfs_' */
  prefix?: string | undefined;
  /** The number of random characters behind the prefix, 16 to 200. @default 32 */
  length?: number | undefined;
}

/** A secret that programs use and cannot read. */
export interface SecretOptions {
  /**
   * The value, or a function that returns the value. The function is called when a program first
   * connects to the outside, and 60 seconds before the value expires.
   */
  value: SecretSource;
  /**
   * The hosts that may receive the value, such as `api.example.com`, `*.example.com` and
   * `api.example.com:8443`. These entries allow no connection.
   */
  hosts: readonly string[];
  /**
   * The places in a request: `header:NAME` and `query:NAME`.
   * @default the headers `authorization`, `x-api-key`, `api-key` and `x-goog-api-key`
   */
  in?: readonly string[] | undefined;
  /** Whether connections without TLS may carry the value. @default false */
  insecure?: boolean | undefined;
  /** The form of the placeholder, for programs that check the form of a key. */
  placeholder?: PlaceholderOptions | undefined;
  /**
   * `false`: programs have no placeholder, and only rules of `network.http` use the secret.
   * @default an environment variable with the name of the secret has the placeholder
   */
  env?: false | undefined;
}

/**
 * A key of AWS that signs requests (Signature Version 4). Programs sign with the placeholder as the
 * id of the key, and with any secret key. The edge process signs again with the key.
 */
export interface SigningSecretOptions extends Omit<SecretOptions, 'value' | 'in' | 'env'> {
  sign: 'aws4';
  /** The key, or a function that returns the key. */
  value: SecretSource<AwsCredentials>;
  /** The region of the signatures. @default the region that the program has signed for */
  region?: string | undefined;
  /** The service of the signatures. @default the service that the program has signed for */
  service?: string | undefined;
  /**
   * `false`: programs have no placeholder, and every request to the hosts is signed.
   * @default an environment variable with the name of the secret has the placeholder
   */
  env?: false | undefined;
}

/** Secrets by their names. */
export type SecretsOptions = Readonly<Record<string, SecretOptions | SigningSecretOptions>>;

const MAX_SECRETS = 256;
const MAX_HOSTS = 64;
const MAX_PLACES = 16;
const MAX_VALUE_BYTES = 16_384;
const MAX_PLACEHOLDER_BYTES = 256;

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
// A value is a part of a header: control characters could begin another header.
const VALUE_EXPECTED = `text or a Uint8Array of 1 to ${MAX_VALUE_BYTES} bytes, without control characters and outer spaces`;

/** Returns the bytes of a value, or `undefined` if the value cannot be a part of a header. */
export function secretBytes(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'string' && !(value instanceof Uint8Array)) return undefined;
  const bytes = typeof value === 'string' ? Buffer.from(value) : Uint8Array.from(value);
  const isInner = bytes.length > 0 && bytes[0] !== 0x20 && bytes.at(-1) !== 0x20;
  const isPart = isInner && bytes.length <= MAX_VALUE_BYTES && bytes.every((byte) => byte >= 0x20 && byte !== 0x7f);
  return isPart ? bytes : undefined;
}

/** Returns the parts of a key of AWS, or `undefined` for another value. */
export function awsParts(value: unknown): Uint8Array[] | undefined {
  if (!isPlain(value)) return undefined;
  const { accessKeyId, secretAccessKey, sessionToken, ...others } = value;
  if (Object.keys(others).length > 0) return undefined;
  const texts = sessionToken === undefined ? [accessKeyId, secretAccessKey] : [accessKeyId, secretAccessKey, sessionToken];
  const parts = texts.map(secretBytes);
  return parts.every((part) => part !== undefined) ? parts : undefined;
}

/** The value of a secret that replaces a placeholder. */
export const SECRET_SOURCE = hidden(
  (value) => typeof value === 'function' || secretBytes(value) !== undefined,
  `${VALUE_EXPECTED}, or a function that returns such a value`,
);

/** The value of a secret that signs requests. */
export const SIGNING_SOURCE = hidden(
  (value) => typeof value === 'function' || awsParts(value) !== undefined,
  'an object: { accessKeyId, secretAccessKey, sessionToken? }, or a function that returns such an object',
);

/** The argument `name` of `set()` and `delete()`. */
export const SECRET_NAME = matching(NAME, 'a name of letters, digits and underscores, of at most 128 characters');

const HOST = rule(
  (value) => typeof value === 'string' && value !== '' && value.length <= 260,
  'a host name with or without a port, such as api.example.com',
);
const PLACE = matching(/^(?:header|query):[^\s:]{1,128}$/, 'a place such as header:authorization or query:key');

const bounded = (list: Rule, least: number, most: number): Rule => ({
  ...list,
  fault(value) {
    const fault = list.fault(value);
    if (fault !== undefined) return fault;
    const { length } = value as unknown[];
    return length < least || length > most ? { path: [], expected: list.expected, received: value } : undefined;
  },
});

const PLACEHOLDER: OptionTable<PlaceholderOptions> = {
  prefix: matching(/^[A-Za-z0-9._~-]{0,56}$/, 'at most 56 letters, digits, -, ., _ and ~'),
  length: whole(16, MAX_PLACEHOLDER_BYTES - 56, 'characters'),
};

const SECRET: OptionTable<SecretOptions> = {
  value: required(SECRET_SOURCE),
  hosts: known(required(bounded(listOf(HOST, `a list of 1 to ${MAX_HOSTS} host names`), 1, MAX_HOSTS)), ['allowedHosts', 'host']),
  in: known(bounded(listOf(PLACE, `a list of at most ${MAX_PLACES} places`), 0, MAX_PLACES), ['places']),
  insecure: FLAG,
  placeholder: objectWith(PLACEHOLDER),
  env: oneOf([false], 'false'),
};

const SCOPE = matching(/^[a-z0-9-]{1,64}$/, 'lower-case letters, digits and hyphens');
const { in: _in, ...COMMON } = SECRET;
const SIGNING: OptionTable<SigningSecretOptions> = {
  ...COMMON,
  value: required(SIGNING_SOURCE),
  sign: oneOf(['aws4'], "'aws4'"),
  region: SCOPE,
  service: SCOPE,
};
const SIGNER = objectWith(SIGNING, 'an object: { sign, value, hosts, region?, service?, insecure?, placeholder?, env? }');

const ONE = objectWith(SECRET, 'an object: { value, hosts, in?, insecure?, placeholder?, env? }');
const EXPECTED = `a map of at most ${MAX_SECRETS} names to { value, hosts, in?, insecure?, placeholder?, env? }`;

/** Accepts the option `secrets`. */
export const SECRETS: Rule = {
  expected: EXPECTED,
  fault(value): Fault | undefined {
    if (!isPlain(value)) return { path: [], expected: EXPECTED, received: new Hidden(value) };
    const entries = Object.entries(value);
    if (entries.length > MAX_SECRETS) return { path: [], expected: EXPECTED, received: value };
    for (const [name, one] of entries) {
      const wrongName = SECRET_NAME.fault(name);
      if (wrongName !== undefined) return { ...wrongName, path: [name] };
      // A secret that is no object may be the value itself.
      if (!isPlain(one)) return { path: [name], expected: ONE.expected, received: new Hidden(one) };
      const fault = (one['sign'] === undefined ? ONE : SIGNER).fault(one);
      if (fault !== undefined) return { ...fault, path: [name, ...fault.path] };
    }
    return undefined;
  },
};

/** Returns a fault if an environment variable has the name of a secret. */
export function sameNames(env: unknown, secrets: unknown): Fault | undefined {
  for (const [name, secret] of Object.entries((secrets ?? {}) as SecretsOptions)) {
    if (secret.env === false || !Object.hasOwn((env ?? {}) as object, name)) continue;
    return {
      path: ['env', name],
      expected: `nothing, because \`secrets.${name}\` sets the variable`,
      received: new Hidden((env as Record<string, unknown>)[name]),
    };
  }
  return undefined;
}
