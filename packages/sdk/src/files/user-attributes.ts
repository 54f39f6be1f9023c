// User attributes of a runtime's files: names that begin with `user.`, and bytes.

import { checkArgument } from '../options/check.js';
import { ATTRIBUTE_NAME, ATTRIBUTE_VALUE, FILE_PATH } from '../options/files.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';
import { toBytes } from './contents.js';

/** The user attributes of files, as Linux's extended attributes. */
export class UserAttributes {
  readonly #access: RuntimeAccess;

  constructor(access: RuntimeAccess) {
    this.#access = access;
  }

  /** Sets an attribute, whose name begins with `user.`. @throws a code such as `EOPNOTSUPP` */
  async set(path: string, name: string, value: string | Uint8Array): Promise<void> {
    const { connection, runtime } = this.#checked('xattrs.set()', path, name);
    checkArgument('xattrs.set()', 'value', ATTRIBUTE_VALUE, value);
    await connection.request('file.attribute.set', { runtime, path, name, value: toBytes(value) });
  }

  /** Returns the value of an attribute, or `undefined` if the file has no such attribute. */
  async get(path: string, name: string): Promise<Uint8Array | undefined> {
    this.#checked('xattrs.get()', path, name);
    return (await this.#all(path)).get(name);
  }

  /** Returns all attributes of a file by name, in order. */
  async list(path: string): Promise<Map<string, Uint8Array>> {
    this.#checked('xattrs.list()', path, 'user.any');
    return this.#all(path);
  }

  /** Removes an attribute. @throws `ENODATA` if the file has no such attribute */
  async remove(path: string, name: string): Promise<void> {
    const { connection, runtime } = this.#checked('xattrs.remove()', path, name);
    await connection.request('file.attribute.set', { runtime, path, name });
  }

  async #all(path: string): Promise<Map<string, Uint8Array>> {
    const { connection, runtime } = this.#access;
    const { attributes } = await connection.request('file.attributes', { runtime, path });
    // The bytes are copied, because the transport may reuse their memory.
    return new Map(Object.entries(attributes).map(([name, value]) => [name, Uint8Array.from(value)]));
  }

  #checked(call: string, path: unknown, name: unknown): RuntimeAccess {
    checkArgument(call, 'path', FILE_PATH, path);
    checkArgument(call, 'name', ATTRIBUTE_NAME, name);
    this.#access.assertUsable();
    return this.#access;
  }
}
