// Options of `createGateway()`.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ColdframeErrorOf } from '../errors/error.js';
import { CALLBACK, type Fault, matching, rule, TIMEOUT_MS } from './rule.js';
import { type OptionTable, required } from './table.js';

/** The part of a runtime that a gateway needs: a `NodeRuntime`, or a pool's use of a runtime. */
export interface GatewayRuntime {
  connect(target: { port: number; allowHalfOpen?: boolean }): Duplex;
}

/** A port of a runtime, as a request names it. */
export interface GatewayTarget {
  readonly port: number;
  readonly id: string;
}

/** A response to a request that reaches no guest. */
export interface GatewayRefusal {
  /** The status of HTTP. */
  status: number;
  /** The body, which is JSON. */
  body: string;
}

/** Options of `createGateway()`. */
export interface GatewayOptions {
  /**
   * The domain below which each runtime has its names, such as `sandbox.localhost`.
   * @default none, with `target`
   */
  domain?: string | undefined;
  /**
   * Returns the port that a request names, instead of its host name.
   * @default the port in the host name `<port>-<id>.<domain>`
   */
  target?: ((request: IncomingMessage) => GatewayTarget | undefined) | undefined;
  /**
   * Returns the runtime with this id, or `undefined` if there is none. Called for every request.
   * The function can resume a paused runtime.
   */
  resolve(id: string, request: IncomingMessage): GatewayRuntime | undefined | Promise<GatewayRuntime | undefined>;
  /**
   * The token that a request must have in the header `coldframe-token`: one token, or the token of
   * each id. If the function returns `undefined`, the id needs no token. @default no token
   */
  token?: string | ((id: string) => string | undefined | Promise<string | undefined>) | undefined;
  /**
   * The header `host` that the guest receives, or a function that returns the header. `PORT` stands
   * for the port.
   * @default 'localhost:PORT'
   */
  requestHost?: string | ((target: GatewayTarget) => string | undefined) | undefined;
  /**
   * Returns the response to a request that reaches no guest.
   * @default the status and the JSON of `ERR_GATEWAY`
   */
  refusal?: ((error: ColdframeErrorOf<'ERR_GATEWAY'>) => GatewayRefusal) | undefined;
  /** Milliseconds until the head of the guest's response must have arrived. @default 300_000 */
  headTimeoutMs?: number | undefined;
  /** Receives the errors of `resolve` and `token`. @default a warning of the process */
  onError?: ((error: unknown) => void) | undefined;
}

const DOMAIN = /^(?=.{1,200}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const DOMAIN_EXPECTED = 'a domain in lower case, such as sandbox.localhost';
const HOST = /^[!-~]{1,255}$/;
const TOKEN = /^[!-~]+$/;

const isHost = (value: unknown): boolean => typeof value === 'function' || (typeof value === 'string' && HOST.test(value));
const isToken = (value: unknown): boolean => typeof value === 'function' || (typeof value === 'string' && TOKEN.test(value));

/** The option table of `createGateway()`. */
export const GATEWAY: OptionTable<GatewayOptions> = {
  domain: matching(DOMAIN, DOMAIN_EXPECTED),
  target: CALLBACK,
  resolve: required(CALLBACK),
  token: rule(isToken, 'printable characters of ASCII without spaces, or a function'),
  requestHost: rule(isHost, 'a host with or without a port, such as localhost:PORT, or a function'),
  refusal: CALLBACK,
  headTimeoutMs: TIMEOUT_MS,
  onError: CALLBACK,
};

/** Returns a fault unless the options name the targets of requests in one way. */
export function oneNaming({ domain, target }: Readonly<Record<string, unknown>>): Fault | undefined {
  if (domain === undefined && target === undefined) return { path: ['domain'], expected: DOMAIN_EXPECTED, received: undefined };
  if (domain === undefined || target === undefined) return undefined;
  return { path: ['target'], expected: 'nothing beside `domain`', received: target };
}
