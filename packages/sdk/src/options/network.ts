// The options of calls about a runtime's network, and the tests that accept what is certainly correct. `network-schemas.ts` says what is wrong with
// the rest.

import type { IncomingHttpHeaders } from 'node:http';
import { invalidOption } from '../errors/make.js';
import { GUEST_PATH } from './bounds.js';
import { show } from './show.js';

type Test = (value: unknown) => boolean;
type Tests = Readonly<Record<string, Test | null>>;

/** Who is meant among those who listen in a runtime: a TCP `port`, or the `path` of a Unix socket. */
export interface ListenerQuery {
  /** A TCP port. */
  port?: number;
  /** An address of the guest's loopback. @default '127.0.0.1', then '::1' */
  host?: string;
  /** An absolute guest path. */
  path?: string;
}

/** To whom `connect()` connects, and how. */
export interface ConnectOptions extends ListenerQuery {
  /** Whether the stream goes on writing when the guest writes no more, as with `net.connect()`. @default false */
  allowHalfOpen?: boolean;
}

/** Options of `waitForListener()`. */
export interface WaitForListenerOptions {
  /** How long to wait, in milliseconds. @default 10_000 */
  timeoutMs?: number;
  /** Ends the wait when it aborts; the call then rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** Options of `exposePort()`. */
export interface ExposePortOptions {
  /** The address of this machine to serve at: one of its loopback. @default '127.0.0.1' */
  host?: string;
  /** The port of this machine; 0 for a free one. @default 0 */
  hostPort?: number;
}

/** What `fetch()` sends, and how much it takes. */
export interface FetchOptions {
  /** @default 'GET' */
  method?: string;
  /** Path and query, from `/` on. @default '/' */
  path?: string;
  /** As an object, as pairs, or as `Headers`. `host` is `localhost:PORT` unless it is given. */
  headers?: IncomingHttpHeaders | Iterable<[string, string | string[] | undefined]>;
  /** Bytes or text; what is iterated over is sent as it comes. */
  body?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
  /** Ends the request when it aborts; the call then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** How long the whole answer may take, in milliseconds. @default 30_000 */
  timeoutMs?: number;
  /** Bytes that the answer's body may have. @default 1_048_576 (1 MiB) */
  maxResponseBytes?: number;
}

/** Bounds of their whole numbers. */
export const NETWORK_WHOLE = {
  port: { min: 1, max: 65_535 },
  hostPort: { min: 0, max: 65_535 },
  /** Milliseconds; the largest is what a timer of Node takes, 24 days. */
  timeoutMs: { min: 1, max: 2_147_483_647 },
  /** Bytes; the largest is what one text may have. */
  maxResponseBytes: { min: 0, max: 536_870_888 },
} as const;

/** An address that a guest may listen at. */
export const GUEST_HOST = /^(localhost|127(\.\d{1,3}){3}|0\.0\.0\.0|::1?)$/;
/** An address of this machine at which a guest's port may be served. */
export const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|::1)$/;
/** A method of HTTP. */
export const METHOD = /^[A-Za-z][A-Za-z-]*$/;
/** What a request asks for. */
export const REQUEST_PATH = /^\/[^\s\0]*$/;

const isWhole =
  (option: keyof typeof NETWORK_WHOLE): Test =>
  (value) =>
    Number.isInteger(value) && (value as number) >= NETWORK_WHOLE[option].min && (value as number) <= NETWORK_WHOLE[option].max;
const isText =
  (pattern: RegExp): Test =>
  (value) =>
    typeof value === 'string' && pattern.test(value);
const isSignal: Test = (value) => value instanceof AbortSignal;

/** For the schemas too. */
export const isHeaders: Test = (value) => typeof value === 'object' && value !== null;
export const isBody: Test = (value) =>
  typeof value === 'string' ||
  value instanceof Uint8Array ||
  (typeof value === 'object' && value !== null && Symbol.asyncIterator in value);

/** By the calls that they belong to. */
export const NETWORK_TESTS = {
  'waitForListener()': { __proto__: null, timeoutMs: isWhole('timeoutMs'), signal: isSignal } as Tests,
  'exposePort()': { __proto__: null, host: isText(LOOPBACK_HOST), hostPort: isWhole('hostPort') } as Tests,
  'fetch()': {
    __proto__: null,
    method: isText(METHOD),
    path: isText(REQUEST_PATH),
    headers: isHeaders,
    body: isBody,
    signal: isSignal,
    timeoutMs: isWhole('timeoutMs'),
    maxResponseBytes: isWhole('maxResponseBytes'),
  } as Tests,
};

const PORT = 'a whole number from 1 to 65535';
const TARGET = 'a port, with or without a host, or a path';

// Checked at once, because `connect()` gives its stream at once.
const QUERY: Readonly<Record<string, readonly [Test, string]>> = {
  __proto__: null as never,
  port: [isWhole('port'), PORT],
  host: [isText(GUEST_HOST), "an address of the guest's loopback, such as 127.0.0.1"],
  path: [isText(GUEST_PATH), 'an absolute guest path such as /tmp/server.sock'],
};
const CONNECT = {
  ...QUERY,
  __proto__: null as never,
  allowHalfOpen: [(value: unknown) => typeof value === 'boolean', 'true or false'],
} as typeof QUERY;

/** Throws unless `port` is a guest's. */
export function checkPort(call: string, port: unknown): void {
  if (!isWhole('port')(port)) throw invalidOption(call, { option: 'port', expected: PORT, received: show(port) });
}

/** Throws unless `target` names one listener. */
export function checkTarget(call: 'connect()' | 'waitForListener()' | 'findListener()', target: unknown): void {
  if (typeof target !== 'object' || target === null) {
    throw invalidOption(call, { option: 'target', expected: TARGET, received: show(target) });
  }
  const tests = call === 'connect()' ? CONNECT : QUERY;
  const entries = Object.entries(target).filter(([, value]) => value !== undefined);
  for (const [option, value] of entries) {
    const [test, expected] = tests[option] ?? [() => false, `one of ${Object.keys(tests).join(', ')}`];
    if (!test(value)) throw invalidOption(call, { option, expected, received: show(value) });
  }
  const { port, host, path } = target as ListenerQuery;
  if ((port === undefined) === (path === undefined) || (path !== undefined && host !== undefined)) {
    throw invalidOption(call, { option: 'target', expected: TARGET, received: show(Object.fromEntries(entries)) });
  }
}
