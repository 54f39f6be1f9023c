// The secrets of tenants. The registry has encrypted values. The key is in a file of its own, so a
// copy of the registry shows no value.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { openKeyFile } from '../access/key-file.js';
import { newTemplateId } from '../ids.js';
import type { SecretRecord } from '../registry/records.js';
import type { NamedStore } from '../registry/registry.js';
import { SandboxFailure } from '../sandboxes/failure.js';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Returns the key in the file `path`, which is made if missing. */
export async function openSecretKey(path: string): Promise<Buffer> {
  const key = await openKeyFile(path, () => randomBytes(KEY_BYTES));
  if (key.length !== KEY_BYTES)
    throw new Error(`The key of the secrets in ${path} has ${key.length} bytes, and must have ${KEY_BYTES}.`);
  return key;
}

/** The secrets of all tenants. */
export class Secrets {
  readonly #store: NamedStore<SecretRecord>;
  readonly #key: Buffer;

  constructor(store: NamedStore<SecretRecord>, key: Buffer) {
    this.#store = store;
    this.#key = key;
  }

  /** Adds a secret. */
  add(tenant: string, name: string, value: string, metadata: Record<string, string>): SecretRecord {
    const now = Date.now();
    const id = `sec_${newTemplateId()}`;
    const record = {
      id,
      tenant,
      name: name.toLowerCase(),
      version: 1,
      sealed: this.#seal(id, value),
      metadata,
      createdAt: now,
      updatedAt: now,
    };
    if (!this.#store.add(record)) throw new SandboxFailure('name-taken', `A secret with the name ${record.name} exists`);
    return record;
  }

  /** Returns a secret by its id or its name. */
  find(tenant: string, reference: string): SecretRecord {
    const record = this.#store.get(reference) ?? this.#store.named(tenant, reference.toLowerCase());
    if (record === undefined || record.tenant !== tenant) {
      throw new SandboxFailure('secret-not-found', `The secret ${reference} was not found`);
    }
    return record;
  }

  /** Replaces the value of a secret. */
  update(tenant: string, reference: string, value: string, metadata: Record<string, string> | undefined): SecretRecord {
    const { id, version } = this.find(tenant, reference);
    const sealed = this.#seal(id, value);
    this.#store.change(id, {
      sealed,
      version: version + 1,
      updatedAt: Date.now(),
      ...(metadata === undefined ? {} : { metadata }),
    });
    return this.find(tenant, id);
  }

  remove(tenant: string, reference: string): void {
    this.#store.remove(this.find(tenant, reference).id);
  }

  list(tenant: string): SecretRecord[] {
    return this.#store.list(tenant);
  }

  /** Returns the value of a secret. */
  valueOf(tenant: string, name: string): string {
    const { id, sealed } = this.find(tenant, name);
    const bytes = Buffer.from(sealed);
    const cipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(id));
    cipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), cipher.final()]).toString('utf8');
  }

  // The id is part of the signature, so that a value cannot be moved to another secret.
  #seal(id: string, value: string): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(id));
    const body = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), body]);
  }
}
