// The secrets of one runtime: `runtime.secrets`.
//
// This process has the values. The edge process asks for the values with the first use of the
// outside, and again after a restart. Each reply is sealed to a key of the edge process
// (`seal.ts`), so the sidecar cannot read a value. A function that returns a value is called when
// the edge process first asks, and 60 seconds before the value expires.

import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { isColdframeError } from '../errors/error.js';
import { invalidOption } from '../errors/make.js';
import { checkArgument } from '../options/check.js';
import { MAX_TIMER_MS } from '../options/rule.js';
import {
  type AwsCredentials,
  awsParts,
  SECRET_NAME,
  SECRET_SOURCE,
  type SecretSource,
  type SecretsOptions,
  SIGNING_SOURCE,
  secretBytes,
} from '../options/secrets.js';
import { show } from '../options/show.js';
import { Encoder } from '../protocol/encode.js';
import type { OutsideSecret, RestoredSecret, RuntimeId } from '../protocol/generated/messages.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';
import { type DeclaredSecret, declare } from './declare.js';

/** A secret without its value. */
export interface SecretInfo {
  readonly name: string;
  /** The hosts that may receive the value. */
  readonly hosts: readonly string[];
  /** Whether this process has a value, or a function that returns the value. */
  readonly hasValue: boolean;
}

/** The parameter `info` of the seal. */
const SEAL_INFO = 'coldframe secrets';
/** The states of a value in a message. */
const MISSING = 0;
const VALUE = 1;
const UNAVAILABLE = 2;
const AWS = 3;
/** Milliseconds before the end of a value at which its function is called again. */
const REFRESH_MS = 60_000;
/** Milliseconds until a failed function is called again. */
const RETRY_MS = 5_000;

/**
 * The largest number of values in one message. The edge process accepts 256 KiB, and a value has at
 * most 16 KiB.
 */
const MOST_IN_MESSAGE = 15;

/** Failures after which the edge process asks again with the next use. */
const ENDED = [
  'ERR_EDGE_ENDED',
  'ERR_PROTOCOL',
  'ERR_RUNTIME_DISPOSED',
  'ERR_RUNTIME_NOT_FOUND',
  'ERR_RUNTIME_PAUSED',
  'ERR_SIDECAR_DISPOSED',
  'ERR_SIDECAR_EXITED',
] as const;

/** A value of any kind, or its function. */
type AnySource = SecretSource | SecretSource<AwsCredentials>;

interface Entry {
  readonly declared: DeclaredSecret;
  source: AnySource | undefined;
  /** The last result of the function. */
  current?: { readonly parts: readonly Uint8Array[]; readonly expiresAt: number } | undefined;
  /** The pending call of the function. */
  pending?: Promise<void> | undefined;
  timer?: NodeJS.Timeout | undefined;
}

/** The secrets of one runtime. */
export class RuntimeSecrets {
  readonly #access: RuntimeAccess;
  /** The connection for requests that do not count as use of the runtime. */
  readonly #connection: SidecarConnection;
  readonly #runtime: RuntimeId;
  readonly #entries = new Map<string, Entry>();

  /** @internal */
  constructor(
    access: RuntimeAccess,
    connection: SidecarConnection,
    initial: SecretsOptions | undefined,
    restored: readonly RestoredSecret[] | undefined,
  ) {
    this.#access = access;
    this.#connection = connection;
    this.#runtime = access.runtime;
    for (const { name, hosts } of restored ?? []) this.#entries.set(name, { declared: { hosts: [...hosts] }, source: undefined });
    this.#add(initial ?? {});
    if (this.#entries.size > 0) this.#listen();
  }

  /**
   * Replaces the value of a secret. After the call has resolved, requests carry the new value. A
   * secret of a restored snapshot gets its first value.
   * @throws `ERR_INVALID_OPTION` (also for a name that the option `secrets` lacks); otherwise as
   * `processes()`
   */
  async set(name: string, value: SecretSource | SecretSource<AwsCredentials>): Promise<void> {
    this.#access.assertUsable();
    checkArgument('secrets.set()', 'name', SECRET_NAME, name);
    const entry = this.#entries.get(name);
    if (entry === undefined) throw unknown('secrets.set()', name);
    checkArgument('secrets.set()', 'value', entry.declared.sign ? SIGNING_SOURCE : SECRET_SOURCE, value);
    stop(entry);
    entry.source = copyOf(value);
    await this.#supply([[name, entry]]);
  }

  /** Returns the names and hosts of the secrets. */
  list(): SecretInfo[] {
    return [...this.#entries].map(([name, { declared, source }]) => ({
      name,
      hosts: [...declared.hosts],
      hasValue: source !== undefined,
    }));
  }

  /**
   * Removes a secret. The edge process overwrites the value. The placeholder stays in the
   * environment of programs, and has no effect.
   * @throws as `set()`
   */
  async delete(name: string): Promise<void> {
    this.#access.assertUsable();
    checkArgument('secrets.delete()', 'name', SECRET_NAME, name);
    const entry = this.#entries.get(name);
    if (entry === undefined) throw unknown('secrets.delete()', name);
    stop(entry);
    this.#entries.delete(name);
    const { connection, runtime } = this.#access;
    await connection.request('outside.update', { runtime, change: { secrets: this.declarations } });
  }

  /** The declarations for a message. @internal */
  get declarations(): OutsideSecret[] {
    return declare([...this.#entries].map(([name, { declared }]) => [name, declared]));
  }

  /** The options of the secrets with a value, for clones. @internal */
  get options(): SecretsOptions | undefined {
    const all = [...this.#entries].filter(([, { source }]) => source !== undefined);
    if (all.length === 0) return undefined;
    return Object.fromEntries(
      all.map(([name, { declared, source }]) => [name, { ...declared, value: source }]),
    ) as SecretsOptions;
  }

  /** Replaces the values of a paused runtime, and adds secrets. @internal */
  replace(secrets: SecretsOptions): void {
    this.#add(secrets);
    this.#listen();
  }

  /** Ends the calls of functions, and forgets the values. @internal */
  end(): void {
    this.#connection.watchSecrets(this.#runtime, undefined);
    for (const entry of this.#entries.values()) {
      stop(entry);
      entry.source = undefined;
    }
  }

  #add(secrets: SecretsOptions): void {
    for (const [name, { value, ...declared }] of Object.entries(secrets)) {
      const before = this.#entries.get(name);
      if (before !== undefined) stop(before);
      this.#entries.set(name, { declared: structuredClone(declared), source: copyOf(value) });
    }
  }

  #listen(): void {
    this.#connection.watchSecrets(this.#runtime, () => {
      // An invalid value has been refused before.
      this.#supply([...this.#entries]).catch(() => {});
    });
  }

  // Sends values. Functions without a present value are called, and send their values later.
  async #supply(entries: readonly (readonly [string, Entry])[]): Promise<void> {
    const waiting = entries.filter(([, entry]) => typeof entry.source === 'function' && !isFresh(entry));
    const ready = entries.filter((one) => !waiting.includes(one));
    const asked = waiting.map(([name, entry]) => this.#ask(name, entry));
    await Promise.all([ready.length === 0 ? undefined : this.#send(ready), ...asked]);
  }

  // Calls the function of a secret, once at a time, and sends the result.
  #ask(name: string, entry: Entry): Promise<void> {
    entry.pending ??= this.#call(name, entry).finally(() => {
      entry.pending = undefined;
    });
    return entry.pending;
  }

  async #call(name: string, entry: Entry): Promise<void> {
    const { source } = entry;
    let delayMs = RETRY_MS;
    try {
      const current = resultOf(entry, await (source as () => unknown)());
      if (entry.source !== source) return;
      entry.current = current;
      const leftMs = current.expiresAt - Date.now();
      delayMs = Math.max(leftMs - REFRESH_MS, Math.min(leftMs / 2, RETRY_MS));
    } catch {
      // The former value stays until it expires. The next call follows after a pause, at the
      // latest when the former value expires.
      if (entry.source !== source) return;
      const { current } = entry;
      if (current !== undefined && !isFresh(entry)) entry.current = undefined;
      else if (current !== undefined) delayMs = Math.min(delayMs, Math.max(current.expiresAt - Date.now(), 0));
    }
    const isUsed = await this.#send([[name, entry]]);
    if (!isUsed || entry.source !== source || !Number.isFinite(delayMs)) return;
    entry.timer = setTimeout(() => this.#ask(name, entry).catch(() => {}), Math.min(delayMs, MAX_TIMER_MS)).unref();
  }

  // Seals and sends the present states of secrets, in messages of a bounded size. Returns whether
  // an edge process has them.
  async #send(entries: readonly (readonly [string, Entry])[]): Promise<boolean> {
    for (let at = 0; at < entries.length; at += MOST_IN_MESSAGE) {
      if (!(await this.#sendPart(entries.slice(at, at + MOST_IN_MESSAGE)))) return false;
    }
    return true;
  }

  async #sendPart(entries: readonly (readonly [string, Entry])[]): Promise<boolean> {
    try {
      const { key } = await this.#connection.request('secrets.key', { runtime: this.#runtime });
      if (key === undefined) return false;
      const receiver = Uint8Array.from(key);
      const { seal } = await import('./seal.js');
      const encoder = new Encoder();
      // A secret that was removed during the request is unknown to the edge process.
      encoder.write(entries.map(([name, entry]) => [name, ...stateOf(entry)]));
      const sealed = seal(receiver, SEAL_INFO, encoder.take());
      await this.#connection.request('secrets.put', { runtime: this.#runtime, key: receiver, sealed });
      return true;
    } catch (error) {
      if (!isColdframeError(error, ...ENDED)) throw error;
      return false;
    }
  }
}

const unknown = (call: string, name: string): Error =>
  invalidOption(call, { option: 'name', expected: 'the name of a secret of the runtime', received: show(name) });

function stop(entry: Entry): void {
  clearTimeout(entry.timer);
  entry.timer = undefined;
  entry.current = undefined;
  entry.pending = undefined;
}

function copyOf(source: AnySource): AnySource {
  if (source instanceof Uint8Array) return Uint8Array.from(source);
  return typeof source === 'object' ? { ...source } : source;
}

const isFresh = ({ current }: Entry): boolean => current !== undefined && current.expiresAt > Date.now();

/** Returns the parts of a value, or `undefined` if the value has another kind than the secret. */
function partsOf({ declared }: Entry, value: unknown): readonly Uint8Array[] | undefined {
  if (declared.sign !== undefined) return awsParts(value);
  const bytes = secretBytes(value);
  return bytes && [bytes];
}

function stateOf(entry: Entry): [state: number, parts: readonly Uint8Array[]] {
  const { source, current, declared } = entry;
  if (source === undefined) return [MISSING, []];
  const isFunction = typeof source === 'function';
  const parts = isFunction ? (isFresh(entry) ? current?.parts : undefined) : partsOf(entry, source);
  return parts === undefined ? [UNAVAILABLE, []] : [declared.sign === undefined ? VALUE : AWS, parts];
}

function resultOf(entry: Entry, result: unknown): NonNullable<Entry['current']> {
  const given = partsOf(entry, result);
  if (given !== undefined) return { parts: given, expiresAt: Number.POSITIVE_INFINITY };
  const { value, expiresAt } = result as { value: unknown; expiresAt?: Date | number };
  const parts = partsOf(entry, value);
  const end = expiresAt === undefined ? Number.POSITIVE_INFINITY : Number(expiresAt);
  if (parts === undefined || Number.isNaN(end)) throw new TypeError('The function of a secret returned no value');
  return { parts, expiresAt: end };
}
