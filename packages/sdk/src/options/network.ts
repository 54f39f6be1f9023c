// Options of the calls that reach servers in a runtime.

import type { IncomingHttpHeaders } from 'node:http';
import { MAX_RESPONSE_BYTES } from './limits.js';
import { type Fault, FLAG, guestPath, matching, rule, SIGNAL, TIMEOUT_MS, whole } from './rule.js';
import { known, type OptionTable, objectWith } from './table.js';

/** Names a listener in a runtime: a TCP `port`, or the `path` of a Unix socket. */
export interface ListenerQuery {
  /** A TCP port. */
  port?: number | undefined;
  /** An address of the guest's loopback. @default '127.0.0.1', then '::1' */
  host?: string | undefined;
  /** An absolute guest path. */
  path?: string | undefined;
}

/** The target of `connect()`, and its options. */
export interface ConnectOptions extends ListenerQuery {
  /**
   * Whether writing stays possible after the guest has ended its side, as with `net.connect()`.
   * @default false
   */
  allowHalfOpen?: boolean | undefined;
}

/** A program that `spawn()` or `spawnCommand()` returned: a `GuestProcess`. */
export interface AwaitedProgram {
  readonly pid: number;
  wait(): Promise<number>;
}

/** Options of `waitForListener()`. */
export interface WaitForListenerOptions {
  /** The longest wait, in milliseconds. @default 10_000 */
  timeoutMs?: number | undefined;
  /** Ends the wait when the signal aborts. The call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * The program that is going to listen, or whose children are. The wait ends with the program.
   * @default the wait ends when a program fails and no process of the runtime is left
   */
  process?: AwaitedProgram | undefined;
}

/** Options of `exposePort()`. */
export interface ExposePortOptions {
  /** A loopback address of the host machine. @default '127.0.0.1' */
  host?: string | undefined;
  /** A port of the host machine. 0 chooses a free port. @default 0 */
  hostPort?: number | undefined;
}

/** The request of `fetch()`, and its bounds. */
export interface FetchOptions {
  /** The method of the request. @default 'GET' */
  method?: string | undefined;
  /** The path and the query of the URL, beginning with `/`. @default '/' */
  path?: string | undefined;
  /** The headers: an object, pairs, or `Headers`. `host` is `localhost:PORT` unless set. */
  headers?: IncomingHttpHeaders | Iterable<[string, string | string[] | undefined]> | undefined;
  /** The body: bytes, text, or an async iterable whose chunks are sent as they arrive. */
  body?: string | Uint8Array | AsyncIterable<string | Uint8Array> | undefined;
  /** Ends the request when the signal aborts. The call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds until the whole response must have arrived. @default 30_000 */
  timeoutMs?: number | undefined;
  /** The largest response body in bytes. @default `limits.fetchResponseBytes` (1 MiB) */
  maxResponseBytes?: number | undefined;
}

const REQUEST_PATH = /^\/[^\s\0]*$/;
const METHOD = /^[A-Za-z][A-Za-z-]*$/;
const GUEST_HOST = /^(localhost|127(\.\d{1,3}){3}|0\.0\.0\.0|::1?)$/;
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

// A pool lends proxies of programs, so the class of the value is not compared.
function isAwaitedProgram(value: unknown): boolean {
  const { pid, ended } = Object(value) as { pid?: unknown; ended?: unknown };
  return typeof pid === 'number' && ended instanceof Promise;
}

const isBody = (value: unknown): boolean =>
  typeof value === 'string' ||
  value instanceof Uint8Array ||
  (typeof value === 'object' && value !== null && Symbol.asyncIterator in value);

/** The option table of `waitForListener()`. */
export const WAIT_FOR_LISTENER: OptionTable<WaitForListenerOptions> = {
  timeoutMs: TIMEOUT_MS,
  signal: SIGNAL,
  process: known(rule(isAwaitedProgram, 'a GuestProcess of this copy of coldframe'), ['program', 'pid'], ', a GuestProcess'),
};

/** The option table of `exposePort()`. */
export const EXPOSE_PORT: OptionTable<ExposePortOptions> = {
  host: matching(LOOPBACK_HOST, "an address of this machine's loopback: 127.0.0.1, ::1 or localhost"),
  hostPort: whole(0, 65_535),
};

/** The option table of `fetch()`. */
export const FETCH: OptionTable<FetchOptions> = {
  method: matching(METHOD, 'a method of HTTP such as GET'),
  path: matching(REQUEST_PATH, 'a path that begins with / and has no white space'),
  headers: rule((value) => typeof value === 'object' && value !== null, 'an object, pairs, or Headers'),
  body: rule(isBody, 'text, a Uint8Array, or an async iterable'),
  signal: SIGNAL,
  timeoutMs: TIMEOUT_MS,
  maxResponseBytes: whole(0, MAX_RESPONSE_BYTES, 'bytes'),
};

/** The argument `port`. */
export const PORT = whole(1, 65_535);

const QUERY: OptionTable<ListenerQuery> = {
  port: PORT,
  host: matching(GUEST_HOST, "an address of the guest's loopback, such as 127.0.0.1"),
  path: guestPath('/tmp/server.sock'),
};
const CONNECT: OptionTable<ConnectOptions> = { ...QUERY, allowHalfOpen: FLAG };

const TARGET_EXPECTED = 'a port, with or without a host, or a path';

function oneListener(target: Readonly<Record<string, unknown>>): Fault | undefined {
  const { port, host, path } = target;
  const isPort = port !== undefined && path === undefined;
  const isPath = port === undefined && path !== undefined && host === undefined;
  return isPort || isPath ? undefined : { path: [], expected: TARGET_EXPECTED, received: target };
}

/** The argument of `waitForListener()` and `findListener()`. */
export const LISTENER_QUERY = objectWith(QUERY, TARGET_EXPECTED, oneListener);
/** The argument of `connect()`. */
export const CONNECT_TARGET = objectWith(CONNECT, TARGET_EXPECTED, oneListener);
