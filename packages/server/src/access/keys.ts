// The keys of the API: the tenant of each key, and the operations that the key allows.

import { createHash, randomUUID } from 'node:crypto';
import { isSameToken } from '../envd/access.js';
import { newKey } from '../ids.js';
import type { KeyRecord, Scope } from '../registry/records.js';
import type { Registry } from '../registry/registry.js';

/** A key in the options of the server. */
export interface ApiKey {
  key: string;
  tenant: string;
  scopes: readonly Scope[];
}

/** The holder of a key. */
export interface Caller {
  tenant: string;
  scopes: readonly Scope[];
  /** The id of a key that an administrator has made. */
  keyId: string | undefined;
}

/** The tenant of a server without keys. */
export const OPEN_TENANT = 'default';

/** All scopes. Only a key of the options can have the scope `operator`. */
export const SCOPES: readonly Scope[] = ['read', 'exec', 'admin', 'operator'];

/**
 * Returns whether a caller may do what a scope allows. A wider scope contains the narrower ones.
 */
export const isAllowed = ({ scopes }: Pick<Caller, 'scopes'>, scope: Scope): boolean =>
  scopes.some((own) => SCOPES.indexOf(own) >= SCOPES.indexOf(scope));

const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/** The keys of the options, and the keys of the registry. */
export class Keys {
  readonly #fixed: readonly ApiKey[];
  readonly #registry: Registry;

  constructor(fixed: readonly ApiKey[], registry: Registry) {
    this.#fixed = fixed;
    this.#registry = registry;
  }

  /** Whether every request is accepted, because the options have no key. */
  get isOpen(): boolean {
    return this.#fixed.length === 0;
  }

  /** Returns the holder of a key, or `undefined` for an unknown key. */
  find(given: string): Caller | undefined {
    if (this.isOpen) return { tenant: OPEN_TENANT, scopes: SCOPES, keyId: undefined };
    const fixed = this.#fixed.find(({ key }) => isSameToken(given, key));
    if (fixed !== undefined) return { ...fixed, keyId: undefined };
    const made = this.#registry.keys.byDigest(digestOf(given));
    return made && { tenant: made.tenant, scopes: made.scopes, keyId: made.id };
  }

  /** Makes a key. The text of the key is not kept. */
  make(tenant: string, name: string, scopes: readonly Scope[]): { record: KeyRecord; key: string } | undefined {
    const key = newKey();
    const mask = { prefix: key.slice(0, 8), suffix: key.slice(-4), length: key.length };
    const record = { id: randomUUID(), tenant, name, digest: digestOf(key), mask, scopes, createdAt: Date.now() };
    return this.#registry.keys.add(record) ? { record, key } : undefined;
  }
}
