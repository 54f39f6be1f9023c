// Options of `createGateway()`.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { CALLBACK, matching, rule, TIMEOUT_MS } from './rule.js';
import { type OptionTable, required } from './table.js';

/** The part of a runtime that a gateway needs: a `NodeRuntime`, or a pool's use of a runtime. */
export interface GatewayRuntime {
  connect(target: { port: number; allowHalfOpen?: boolean }): Duplex;
}

/** Options of `createGateway()`. */
export interface GatewayOptions {
  /** The domain below which each runtime has its names, such as `sandbox.localhost`. */
  domain: string;
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
   * The header `host` that the guest receives. `PORT` stands for the port.
   * @default 'localhost:PORT'
   */
  requestHost?: string | undefined;
  /** Milliseconds until the head of the guest's response must have arrived. @default 300_000 */
  headTimeoutMs?: number | undefined;
  /** Receives the errors of `resolve` and `token`. @default a warning of the process */
  onError?: ((error: unknown) => void) | undefined;
}

const DOMAIN = /^(?=.{1,200}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const HOST = /^[!-~]{1,255}$/;
const TOKEN = /^[!-~]+$/;

const isToken = (value: unknown): boolean => typeof value === 'function' || (typeof value === 'string' && TOKEN.test(value));

/** The option table of `createGateway()`. */
export const GATEWAY: OptionTable<GatewayOptions> = {
  domain: required(matching(DOMAIN, 'a domain in lower case, such as sandbox.localhost')),
  resolve: required(CALLBACK),
  token: rule(isToken, 'printable characters of ASCII without spaces, or a function'),
  requestHost: matching(HOST, 'a host with or without a port, such as localhost:PORT'),
  headTimeoutMs: TIMEOUT_MS,
  onError: CALLBACK,
};
