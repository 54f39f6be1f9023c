// The options of servers of the Model Context Protocol.

import type { NodeRuntime } from '../index.js';

/** Makes and ends the runtimes of sessions. */
export interface RuntimeSource {
  create(): Promise<NodeRuntime>;
  /** Copies the runtime of a session. @default `runtime.clone()` */
  clone?(runtime: NodeRuntime): Promise<NodeRuntime>;
  /** Ends the runtime of a session. @default `runtime.dispose()` */
  dispose?(runtime: NodeRuntime): Promise<void>;
}

/** The options of `createMcpHandler()` and `serveMcp()`. */
export interface McpOptions extends RuntimeSource {
  /** The largest number of sessions of one client. @default 16 */
  maxSessions?: number;
  /** Milliseconds after which an unused session is disposed. @default 900,000 */
  idleMs?: number;
  /** Milliseconds after which a program ends, if its call states no time. @default 30,000 */
  timeoutMs?: number;
  /** The working directory of the runtimes. @default `/workspace` */
  folder?: string;
}

/** The options of `createMcpHandler()`. */
export interface McpHandlerOptions extends McpOptions {
  /** The largest number of clients. @default 64 */
  maxClients?: number;
}

/** The defaults of the options. */
export const DEFAULTS = {
  maxSessions: 16,
  idleMs: 900_000,
  timeoutMs: 30_000,
  folder: '/workspace',
  maxClients: 64,
};
